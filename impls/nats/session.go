// Package nats holds the lock algorithms on the key-value store of NATS, one a file.
package nats

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	lb "github.com/lockbench/lockbench"
	backend "github.com/lockbench/lockbench/backends/nats"
	"github.com/nats-io/nats.go"
)

// algorithm is an lb.Impl made of its description and its way to open a client.
type algorithm struct {
	info lb.Info
	// keysLast: the bucket's keys last for a lease, and not for what each of them says.
	keysLast bool
	open     func(*session) lb.Client
}

func (a algorithm) Info() lb.Info { return a.info }

func (a algorithm) Open(ctx context.Context, env *lb.Env) (lb.Client, error) {
	if len(env.Servers) == 0 {
		return nil, errors.New("nats: the run has no server")
	}
	ctx, cancel := context.WithTimeout(ctx, openBound)
	defer cancel()
	c, err := connect(ctx, env)
	if err != nil {
		return nil, fmt.Errorf("nats: connect to %s: %w", strings.Join(env.Servers, ", "), err)
	}
	var last time.Duration
	if a.keysLast {
		last = env.TTL
	}
	if err := backend.Bucket(ctx, c, len(env.Servers), last); err != nil {
		c.Close()
		return nil, fmt.Errorf("nats: %w", err)
	}
	s := &session{env: env, conn: c, kv: backend.KV{Conn: c, Bucket: backend.BucketName(last)}}
	if err := s.ready(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return lb.Exclusive(lb.Again(a.open(s))), nil
}

// ready reads a key until somebody answers: of three servers none may do so for a moment after the bucket was made.
func (s *session) ready(ctx context.Context) error {
	for {
		_, err := s.ask(ctx, lb.Request{}, "ready", func(ctx context.Context) error {
			_, err := s.kv.Get(ctx, "ready")
			return err
		})
		if err == nil {
			return nil
		}
		if asleep := s.env.Clock.Sleep(ctx, 20*time.Millisecond); asleep != nil {
			return errors.Join(asleep, err)
		}
	}
}

const (
	// patience is for how long a server may be silent when somebody connects, and after how long it is pinged; the third ping
	// finds it lost.
	patience = time.Second
	// openBound is for how long a session may take to begin: servers that have just started may still look for each other
	// when a bucket is to be made.
	openBound = 20 * time.Second
)

// connect tries the servers in turn, the first by chance.
func connect(ctx context.Context, env *lb.Env) (c *nats.Conn, err error) {
	n := len(env.Servers)
	first := env.Rand.IntN(n)
	for {
		c, err = backend.Dial(append(env.Servers[first:n:n], env.Servers[:first]...), patience)
		if err == nil {
			return c, nil
		}
		if asleep := env.Clock.Sleep(ctx, 20*time.Millisecond); asleep != nil {
			return nil, err
		}
	}
}

// session is one client's connection. No lock is tied to it.
type session struct {
	env  *lb.Env
	conn *nats.Conn
	kv   backend.KV
	held lb.Held[uint64] // revisions, by owner
}

// Close implements lb.Client for every algorithm.
func (s *session) Close() error {
	s.conn.Close()
	return nil
}

// ask sends one request by that name. It gives it up when the time of ctx is over, or that of a lease. A caller who only
// does not want the answer any more gets it all the same: to leave it would make an unknown of it.
func (s *session) ask(ctx context.Context, req lb.Request, name string, request func(context.Context) error) (sent lb.Reading, err error) {
	err = s.env.Send(ctx, req, name, func(ctx context.Context) error {
		sent = s.env.Clock.Mono()
		ctx, cancel := s.bounded(ctx)
		defer cancel()
		err := request(ctx)
		if err != nil && !lb.Refused(err) {
			err = fmt.Errorf("nats: %s: %w", name, err)
			if backend.NoEffect(err) {
				err = lb.NoEffect(err)
			}
		}
		return err
	})
	return sent, err
}

// bounded is ctx with an end, by the host's clock.
func (s *session) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	end, ok := ctx.Deadline()
	whole, cancel := s.env.WithTimeout(context.WithoutCancel(ctx), s.env.TTL)
	if !ok {
		return whole, cancel
	}
	sooner, stop := context.WithDeadline(whole, end)
	return sooner, func() { stop(); cancel() }
}

// put writes the owner if the key is at that revision, and else the lock is held.
func (s *session) put(ctx context.Context, req lb.Request, name string, at uint64, lasts time.Duration) (revision uint64, sent lb.Reading, err error) {
	sent, err = s.ask(ctx, req, name, func(ctx context.Context) (err error) {
		revision, err = s.kv.Put(ctx, key(req.Lock), req.Owner, at, lasts)
		if errors.Is(err, backend.ErrRevision) {
			return lb.ErrHeld
		}
		return err
	})
	return revision, sent, err
}

// look reads the key by a server that takes itself for the leader, to find out what became of an acquisition.
func (s *session) look(ctx context.Context, req lb.Request) (found backend.Entry, err error) {
	_, err = s.ask(ctx, req, "look", func(ctx context.Context) (err error) {
		found, err = s.kv.Look(ctx, key(req.Lock))
		return err
	})
	return found, err
}

// key is that of a lock. Keys have letters, digits and few other characters; a dot would make two words of one.
func key(lock string) string {
	const most, begin = 200, 80
	var b strings.Builder
	for _, c := range []byte(lock) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "=%02X", c)
		}
	}
	name := b.String()
	if name != "" && len(name) <= most {
		return name
	}
	return fmt.Sprintf("%s/%x", name[:min(len(name), begin)], sha256.Sum256([]byte(lock)))
}
