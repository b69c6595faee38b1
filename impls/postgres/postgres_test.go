package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
)

// lab is a server with clients for one test.
type lab struct {
	*testing.T
	servers []string
	count   int
}

func newLab(t *testing.T, topology string) *lab {
	t.Parallel()
	testkit.Share(t, 1)
	return &lab{T: t, servers: labtest.Endpoints(labtest.Servers(t, topology))}
}

const ttl = time.Second

func (l *lab) env() *lb.Env {
	l.count++
	return &lb.Env{Client: fmt.Sprint("c", l.count), Servers: l.servers, TTL: ttl, Clock: lb.HostClock{}, Rand: rand.New(rand.NewPCG(1, 1))}
}

func (l *lab) open(impl lb.Impl) lb.Client {
	l.Helper()
	c, err := impl.Open(l.Context(), l.env())
	if err != nil {
		l.Fatal(err)
	}
	l.Cleanup(func() { c.Close() })
	return c
}

func (l *lab) request(lock string) lb.Request {
	l.count++
	return lb.Request{Lock: lock, Owner: fmt.Sprint("r", l.count)}
}

func (l *lab) acquire(c lb.Client, req lb.Request) *lb.Lease {
	l.Helper()
	ctx, cancel := context.WithTimeout(l.Context(), 10*ttl)
	defer cancel()
	lease, err := c.Acquire(ctx, req)
	if err != nil {
		l.Fatalf("acquire %s: %v", req.Lock, err)
	}
	return lease
}

func (l *lab) release(c lb.Client, req lb.Request, want error) {
	l.Helper()
	if err := c.Release(l.Context(), req); !errors.Is(err, want) {
		l.Fatalf("release %s: %v, want %v", req.Lock, err, want)
	}
}

// TestTokens: many who take turns get numbers that only rise, those whose lease was over among them.
func TestTokens(t *testing.T) {
	l := newLab(t, "postgres")
	a, b := l.open(Insert()), l.open(Insert())
	var last uint64
	for i := range 20 {
		c := a
		if i%2 > 0 {
			c = b
		}
		req := l.request("lock")
		token := l.acquire(c, req).Token
		if token <= last {
			t.Fatalf("token %d after %d", token, last)
		}
		if last = token; i != 10 { // that one is left to its end
			l.release(c, req, nil)
		}
	}
}

// TestPooled: behind a pooler two clients have a session's lock at once, and a transaction's one has it alone.
func TestPooled(t *testing.T) {
	l := newLab(t, "postgres-pooled")
	a, b := l.open(AdvisoryPooled()), l.open(AdvisoryPooled())
	l.acquire(a, l.request("lock"))
	try := l.request("lock")
	try.Try = true
	if _, err := b.Acquire(t.Context(), try); err != nil {
		t.Errorf("the second was not let in by the connection of the first: %v", err)
	}
	a, b = l.open(AdvisoryXact()), l.open(AdvisoryXact())
	held, other := l.request("other"), l.request("other")
	l.acquire(a, held)
	other.Try = true
	if _, err := b.Acquire(t.Context(), other); !errors.Is(err, lb.ErrHeld) {
		t.Errorf("while a transaction has the lock, a try of another: %v", err)
	}
	l.release(a, held, nil)
}

// TestServerDiesBehindPooler: that the server has gone the pooler says as an error of the server's. The statement may have
// done what it was to do.
func TestServerDiesBehindPooler(t *testing.T) {
	l := newLab(t, "postgres-pooled")
	s, err := database.Dial(t.Context(), l.env())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Create(t.Context(), []string{"CREATE TABLE lockbench_dies (n int)"}); err != nil {
		t.Fatal(err)
	}
	_, err = s.Statement(t.Context(), "BEGIN; INSERT INTO lockbench_dies VALUES (1); COMMIT; COPY (SELECT) TO PROGRAM 'kill -9 $PPID'")
	if got := database.Refusal("INSERT", err); lb.AnswerOf(got) != lb.AnswerUnknown {
		t.Errorf("taken for %s: %v", lb.AnswerOf(got), got)
	}
	host, _, _ := net.SplitHostPort(l.servers[0])
	past, err := pool(&lb.Env{Servers: []string{host + ":5433"}}) // the pooler rests for a while
	if err != nil {
		t.Fatal(err)
	}
	defer past.Close()
	for there := false; !there; {
		if err := past.QueryRowContext(t.Context(), "SELECT count(*) > 0 FROM lockbench_dies").Scan(&there); err == nil && !there {
			t.Fatal("the row is not there")
		}
	}
}
