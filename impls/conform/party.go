package conform

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/wire"
)

// bench is where one check happens: a lock of its own, and the clients.
type bench struct {
	times
	impl     lb.Impl
	servers  []string
	speaks   wire.Language
	ttl      time.Duration
	trips    RoundTrips
	wrong    bool // it is no lock
	unfilled bool // the check takes all permits of a semaphore itself
	lock     string
	record   *record // what is noted about the algorithm in all checks
	note     string  // what the check has measured

	renewals int // that may be on their way when the lock is given back

	mu      sync.Mutex
	parties []*party

	filling sync.Mutex
	filled  map[string]int // permits, of each lock
	filler  *party
}

// fill takes all permits of a semaphore but one, once for each lock: what is left is a lock of one, and held to the
// same.
func (b *bench) fill(ctx context.Context, lock string) (err error) {
	permits := b.impl.Info().Traits.AtOnce()
	if permits == 1 || b.unfilled {
		return nil
	}
	b.filling.Lock()
	defer b.filling.Unlock()
	if b.filled[lock] == permits-1 {
		return nil
	}
	if b.filler == nil {
		if b.filler, err = b.client(ctx); err != nil {
			return fmt.Errorf("open one more: %w", err)
		}
		b.filled = map[string]int{}
	}
	for n := b.filled[lock]; n < permits-1; n++ {
		req := b.filler.request(lock)
		if _, err := b.filler.session.Acquire(ctx, req); err != nil {
			return b.filler.settle(ctx, req, fmt.Errorf("permit %d of %d: %w", n+1, permits, err))
		}
		b.filled[lock] = n + 1 // should the next one fail, it is asked for again, and no more
	}
	return nil
}

// run does the check and closes its clients, which must not hang either.
func (b *bench) run(ctx context.Context, c check) error {
	ctx, cancel := context.WithTimeout(ctx, b.whole)
	defer cancel()
	err := c.run(ctx, b)
	for _, p := range b.parties {
		err = errors.Join(err, p.close())
	}
	b.record.note(b.parties)
	return err
}

// party is one client, the proxies that it reaches the servers through, and a
// probe that watches it.
type party struct {
	times
	env     *lb.Env
	fill    func(ctx context.Context, lock string) error
	proxies []*proxy
	session lb.Client
	watch   *watch
	count   int // of acquisitions, for their ids

	broken        bool // its network was, at some time
	passed, wired int  // requests before those that are compared
	gaveUp        int  // how often it did
}

// client opens a session.
func (b *bench) client(ctx context.Context) (*party, error) {
	p, err := b.stranger()
	if err != nil {
		return nil, err
	}
	if err := p.open(ctx, b.impl); err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	return p, nil
}

// clients opens n sessions.
func (b *bench) clients(ctx context.Context, n int) ([]*party, error) {
	ps := make([]*party, n)
	return ps, together(n, func(i int) (err error) {
		ps[i], err = b.client(ctx)
		return err
	})
}

// taken opens n sessions, the first of which takes the lock.
func (b *bench) taken(ctx context.Context, n int) (ps []*party, h *held, err error) {
	if ps, err = b.clients(ctx, n); err == nil {
		h, err = ps[0].soon(ctx, b.lock)
	}
	return ps, h, err
}

// stranger is a client that has not yet opened its session.
func (b *bench) stranger() (*party, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := len(b.parties) + 1
	p := &party{times: b.times, watch: newWatch(), fill: b.fill}
	b.parties = append(b.parties, p)
	p.env = &lb.Env{
		Client: fmt.Sprintf("%s.c%d", b.lock, n), TTL: b.ttl, Clock: lb.HostClock{},
		Rand: rand.New(rand.NewPCG(uint64(n), 0)), Probe: p.watch,
	}
	for _, s := range b.servers {
		via, err := newProxy(s, b.speaks)
		if err != nil {
			return nil, err
		}
		p.proxies = append(p.proxies, via)
		p.env.Servers = append(p.env.Servers, via.addr())
	}
	return p, nil
}

func (p *party) open(ctx context.Context, impl lb.Impl) (err error) {
	p.session, err = impl.Open(ctx, p.env)
	return err
}

func (p *party) set(m mode) {
	p.broken = true
	for _, via := range p.proxies {
		via.set(m)
	}
}

// crash is the client's death as its servers see it where its kernel lives on;
// hang is its death where that dies, too, or the network between.
func (p *party) crash() { p.set(refuses) }
func (p *party) hang()  { p.set(hangs) }

// heard are the requests that went over the wire, by their names in the protocol.
func (p *party) heard() (all []string) {
	for _, via := range p.proxies {
		all = append(all, via.requests()...)
	}
	return all
}

func (p *party) close() (err error) {
	if p.session != nil {
		err = within("Close", p.prompt, func() error { _ = p.session.Close(); return nil })
	}
	for _, via := range p.proxies {
		via.close()
	}
	return err
}

// held is a granted acquisition.
type held struct {
	*party
	req   lb.Request
	lease *lb.Lease
}

// request is one for the lock, with an owner that was never used before.
func (p *party) request(lock string) lb.Request {
	p.count++
	return lb.Request{Lock: lock, Owner: p.owner(p.count)}
}

// owner is that of the client's nth acquisition.
func (p *party) owner(n int) string { return fmt.Sprintf("%s.%d", p.env.Client, n) }

// acquire waits for the lock until ctx ends.
func (p *party) acquire(ctx context.Context, lock string) (*held, error) {
	return p.insist(ctx, lock, false)
}

// try wants an answer at once.
func (p *party) try(ctx context.Context, lock string) (*held, error) {
	return p.insist(ctx, lock, true)
}

// insist asks again where the lock gave a request up, as far as that is said of it.
func (p *party) insist(ctx context.Context, lock string, try bool) (h *held, err error) {
	for range p.asks {
		req := p.request(lock)
		req.Try = try
		if h, err = p.ask(ctx, req); err == nil || ctx.Err() != nil || !gaveUp(err) {
			break
		}
	}
	return h, err
}

func (p *party) ask(ctx context.Context, req lb.Request) (*held, error) {
	if err := p.fill(ctx, req.Lock); err != nil {
		return nil, err
	}
	lease, err := p.session.Acquire(ctx, req)
	if err != nil {
		return nil, p.settle(ctx, req, err)
	}
	if lease == nil {
		return nil, errors.New("the acquire returned neither a lease nor an error")
	}
	return &held{p, req, lease}, nil
}

// soon acquires a lock that should be free.
func (p *party) soon(ctx context.Context, lock string) (*held, error) {
	ctx, cancel := context.WithTimeout(ctx, p.prompt)
	defer cancel()
	h, err := p.acquire(ctx, lock)
	if err != nil {
		return nil, fmt.Errorf("not granted within %v, although nobody holds it: %w", p.prompt, err)
	}
	return h, nil
}

// refused wants the lock to be taken.
func (p *party) refused(ctx context.Context, lock string) error {
	ctx, cancel := context.WithTimeout(ctx, p.prompt)
	defer cancel()
	h, err := p.try(ctx, lock)
	switch {
	case err == nil:
		_ = h.release(ctx) // the check has failed already
		return errors.New("was granted, although another client holds it")
	case !errors.Is(err, lb.ErrHeld):
		return fmt.Errorf("a try of a taken lock: %w, want ErrHeld", err)
	}
	return nil
}

// settle takes back an acquisition of unknown outcome, as the bench's workers do.
func (p *party) settle(ctx context.Context, req lb.Request, err error) error {
	for n := 0; lb.AnswerOf(err) == lb.AnswerUnknown && n < 3; n++ {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.env.TTL)
		e := p.session.Release(ctx, req)
		cancel()
		if lb.AnswerOf(e) != lb.AnswerUnknown {
			break
		}
	}
	return err
}

// release gives the lock back. Who is not told whether it was held has done so, too:
// that is for the check of this.
func (h *held) release(ctx context.Context) error {
	if err := h.giveBack(ctx); err != nil && !errors.Is(err, lb.ErrReleased) {
		return fmt.Errorf("release of a lock that is held: %w", err)
	}
	return nil
}

func (h *held) giveBack(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, h.prompt)
	defer cancel()
	return h.session.Release(ctx, h.req)
}

// gaveUp reports whether err is the end of a context, which a connection that
// was waiting for an answer may report as its own deadline.
func gaveUp(err error) bool { return lb.GaveUp(err) || errors.Is(err, os.ErrDeadlineExceeded) }

// within fails if f takes longer than d.
func within(what string, d time.Duration, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-time.After(d):
		return fmt.Errorf("%s still hangs after %v", what, d)
	}
}

// together runs f for 0 to n-1 at the same time.
func together(n int, f func(i int) error) error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = f(i) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// pause lets time pass.
func pause(ctx context.Context, d time.Duration) error { return lb.HostClock{}.Sleep(ctx, d) }

// queued returns when the client has begun to wait. A library may announce the
// wait before it has sent its request, so that gets a moment.
func (p *party) queued(ctx context.Context) error {
	select {
	case <-p.watch.waits:
	case <-time.After(p.prompt):
		return fmt.Errorf("%s does not wait: no env.Wait within %v", p.env.Client, p.prompt)
	case <-ctx.Done():
		return ctx.Err()
	}
	return pause(ctx, 100*time.Millisecond)
}
