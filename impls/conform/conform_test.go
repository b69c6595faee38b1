package conform

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	backend "github.com/lockbench/lockbench/backends/redis"
	"github.com/lockbench/lockbench/impls/none"
	"github.com/lockbench/lockbench/impls/redis"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// TestSuiteConvicts gives the suite a lock that is none and claims everything.
// Nearly every check must see it. Two can't, which are about a lock that stays taken,
// nor one about requests, of which it sends none, nor one about a release that works.
func TestSuiteConvicts(t *testing.T) {
	t.Parallel()
	deviates := map[string]string{inInfo: "it sends nothing"}
	for _, c := range checks(liar{}.Info().Traits) {
		if !slices.Contains([]string{"crash", "hang", "requests", "release-answer", "valid"}, c.name) {
			deviates[c.name] = "there is no lock"
		}
	}
	o := Options{Servers: []string{"127.0.0.1:1"}, RoundTrips: RoundTrips{1, 1}, Deviates: deviates}
	told := map[string]bool{}
	for _, r := range All(t.Context(), liar{none.New()}, o, 8, func(r Result) { told[r.Check] = true }) {
		if !r.OK() {
			t.Errorf("%s: %v", r.Check, r)
		}
		if !told[r.Check] || r.Took == 0 && r.Check != inInfo {
			t.Errorf("told of %s: %v, which took %v", r.Check, told[r.Check], r.Took)
		}
	}
	if !told[inInfo] {
		t.Error("not told of the last")
	}
}

// TestOptions: what is declared in vain is wrong, and nothing is checked.
func TestOptions(t *testing.T) {
	for name, reason := range map[string]string{"exclusion": "", "push": "it does not claim it", "no-such-check": "why?"} {
		all := All(t.Context(), none.New(), Options{Deviates: map[string]string{name: reason}}, 1, func(Result) {})
		if len(all) != 1 || all[0].OK() {
			t.Errorf("%s deviates, for the reason %q: %v", name, reason, all)
		}
	}
}

// TestOnly does what is named, and no other check.
func TestOnly(t *testing.T) {
	var done []string
	for _, r := range All(t.Context(), none.New(), Options{Only: []string{"try", "bound"}}, 1, func(Result) {}) {
		done = append(done, r.Check)
	}
	if !slices.Equal(done, []string{"try", "bound"}) {
		t.Errorf("done: %q", done)
	}
	if r := All(t.Context(), none.New(), Options{Only: []string{"push"}}, 1, func(Result) {}); len(r) != 1 || r[0].OK() {
		t.Errorf("only what does not apply: %v", r)
	}
}

// TestAllStops: with its context, and without the checks that have not begun.
func TestAllStops(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	all := All(ctx, none.New(), Options{}, 1, func(Result) { stop() })
	if len(all) != 1 {
		t.Errorf("%d checks were done", len(all))
	}
}

func TestResult(t *testing.T) {
	err := errors.New("it is none")
	for want, r := range map[string]Result{
		"passes":          {Check: "wait"},
		"2+1 round trips": {Check: "round-trips", Note: "2+1 round trips"},
		"it is none":      {Check: "wait", Err: err},
		"deviates as declared (too slow): it is none":           {Check: "wait", Err: err, Deviates: "too slow"},
		"passes wait, although it is said to deviate: too slow": {Check: "wait", Deviates: "too slow"},
	} {
		if r.String() != want {
			t.Errorf("%q, want %q", r, want)
		}
		if ok := strings.Contains(want, "deviates") || r.Err == nil && r.Deviates == ""; r.OK() != ok {
			t.Errorf("%q is OK: %v", r, r.OK())
		}
	}
}

// TestSlow: a lock may take its time to start, and with patience to answer, too. What it
// costs is only measured where nobody has said it.
func TestSlow(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	servers := labtest.Endpoints(labtest.Servers(t, "redis"))
	for name, tc := range map[string]struct {
		impl     slow
		patience float64
		want     bool
	}{
		"to start":                 {slow{opens: 6 * time.Second}, 0, true},
		"to answer":                {slow{acquires: 500 * time.Millisecond}, 0, false},
		"to answer, with patience": {slow{acquires: 500 * time.Millisecond}, 4, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.impl.Impl = redis.SetPXLua()
			s, err := New(tc.impl, Options{Servers: servers, Speaks: backend.Language, Patience: tc.patience})
			if err != nil {
				t.Fatal(err)
			}
			if r := s.Do(t.Context(), "deadline"); r.OK() != tc.want {
				t.Errorf("after %v: %v", r.Took, r)
			}
			if r := s.Do(t.Context(), "round-trips"); r.Note != "an acquire and a release cost 1+1 round trips" || !r.OK() {
				t.Errorf("after %v: %v", r.Took, r)
			}
		})
	}
}

// slow is a lock that sleeps before it does anything.
type slow struct {
	lb.Impl
	opens, acquires time.Duration
}

func (s slow) Open(ctx context.Context, env *lb.Env) (lb.Client, error) {
	if err := pause(ctx, s.opens); err != nil {
		return nil, err
	}
	c, err := s.Impl.Open(ctx, env)
	return slowClient{c, s.acquires}, err
}

type slowClient struct {
	lb.Client
	acquires time.Duration
}

func (c slowClient) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	if err := pause(ctx, c.acquires); err != nil {
		return nil, err
	}
	return c.Client.Acquire(ctx, req)
}

// TestSuiteConvictsModesNotClaimed is the same for one that claims nothing.
func TestSuiteConvictsModesNotClaimed(t *testing.T) {
	for name, run := range map[string]func(context.Context, *bench) error{
		"shared": notShared, "reentrant": notReentrant, "expiry": leaseEnds,
	} {
		if err := run(t.Context(), &bench{times: timesOf(1, time.Second), impl: none.New(), lock: name}); err == nil {
			t.Errorf("%s: passes for a lock that is none", name)
		}
	}
}

// TestSuiteConvictsAnswers: a library that says what is not so when it is asked whether it holds the lock.
func TestSuiteConvictsAnswers(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	servers := labtest.Endpoints(labtest.Servers(t, "redis"))
	for name, c := range map[string]struct {
		says func(held, over bool) bool
		want string // part of the error; "" for none
	}{
		"the truth":              {func(held, over bool) bool { return held && !over }, ""},
		"no, always":             {func(bool, bool) bool { return false }, "right after the grant, it says no"},
		"yes, always":            {func(bool, bool) bool { return true }, "was given back, it says yes"},
		"yes, until it releases": {func(held, _ bool) bool { return held }, "has ended, it says yes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := New(saying{redis.SetPXLua(), c.says}, Options{Servers: servers, Speaks: backend.Language})
			if err != nil {
				t.Fatal(err)
			}
			if r := s.Do(t.Context(), "valid"); (c.want == "") != (r.Err == nil) || r.Err != nil && !strings.Contains(r.Err.Error(), c.want) {
				t.Errorf("%v, want %q", r, c.want)
			}
		})
	}
}

// saying is a lock that answers whether it is held by what was called, and whether its lease is over.
type saying struct {
	lb.Impl
	says func(held, over bool) bool
}

func (s saying) Open(ctx context.Context, env *lb.Env) (lb.Client, error) {
	c, err := s.Impl.Open(ctx, env)
	return &sayingClient{Client: c, says: s.says}, err
}

type sayingClient struct {
	lb.Client
	says   func(held, over bool) bool
	leases lb.Held[*lb.Lease]
}

func (c *sayingClient) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	lease, err := c.Client.Acquire(ctx, req)
	if err == nil {
		c.leases.Put(req.Owner, lease)
	}
	return lease, err
}

func (c *sayingClient) Release(ctx context.Context, req lb.Request) error {
	c.leases.Drop(req.Owner)
	return c.Client.Release(ctx, req)
}

func (c *sayingClient) Valid(_ context.Context, req lb.Request) (bool, error) {
	lease, held := c.leases.Get(req.Owner)
	return c.says(held, held && !lease.Valid()), nil
}

// TestSuiteConvictsStuckClaim: who declares to stay stuck and does not is wrong.
func TestSuiteConvictsStuckClaim(t *testing.T) {
	if err := vanished((*party).crash)(t.Context(), &bench{times: timesOf(1, time.Second), impl: stuck{none.New()}, lock: "stuck"}); err == nil {
		t.Error("a lock that says that it gets stuck, and does not, passes")
	}
}

type liar struct{ lb.Impl }

func (liar) Info() lb.Info {
	return lb.Info{Name: "liar", Requests: []string{"lie"}, Traits: lb.Traits{
		Fenced: true, Leased: true, Renewing: true, Push: true, Fair: true, Reentrant: true, Shared: true, Session: true, LostNotice: true,
	}}
}

type stuck struct{ lb.Impl }

func (stuck) Info() lb.Info {
	return lb.Info{Name: "stuck", Expect: []lb.Expectation{{Fault: "kill-holder", Outcomes: []lb.Outcome{lb.Stuck}}}}
}

// TestSuiteConvictsUnseen: who sends more, or less, than it lets pass is wrong; so is
// who sends what it does not declare, or begins with something else.
func TestSuiteConvictsUnseen(t *testing.T) {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	go func() {
		for {
			c, err := server.Accept()
			if err != nil {
				return
			}
			go io.Copy(c, c)
		}
	}()
	for _, tc := range []struct {
		passes, sends int
		want          bool
	}{{1, 1, true}, {0, 1, false}, {2, 1, false}, {1, 2, false}, {3, 3, true}} {
		b := &bench{times: timesOf(1, time.Second), impl: talker{none.New(), tc.passes, tc.sends, nil}, lock: "unseen", servers: []string{server.Addr().String()}}
		err := requestsAlone(t.Context(), b)
		if (err == nil) != tc.want {
			t.Errorf("%d requests pass and %d are sent: %v", tc.passes, tc.sends, err)
		}
	}
	for _, tc := range []struct {
		requests []string
		want     bool
	}{{[]string{"say", "hear"}, true}, {[]string{"hear", "say"}, false}, {nil, false}} {
		b := &bench{times: timesOf(1, time.Second), impl: talker{none.New(), 1, 1, tc.requests}, wrong: true, lock: "first", servers: []string{server.Addr().String()}}
		err := requestsFirst(t.Context(), b)
		if (err == nil) != tc.want {
			t.Errorf("\"say\" comes first, and Info has %q: %v", tc.requests, err)
		}
	}
	seen := &record{names: map[string]bool{"set": true, "get": true}}
	for name, tc := range map[string]struct {
		info lb.Info
		rare map[string]string
		want bool
	}{
		"all":           {lb.Info{Requests: []string{"set", "get"}, Takes: "set"}, nil, true},
		"one missing":   {lb.Info{Requests: []string{"set"}, Takes: "set"}, nil, false},
		"one too many":  {lb.Info{Requests: []string{"set", "get", "del"}, Takes: "set"}, nil, false},
		"a rare one":    {lb.Info{Requests: []string{"set", "get", "del"}, Takes: "set"}, map[string]string{"del": "so rare"}, true},
		"takes nothing": {lb.Info{Requests: []string{"set", "get"}, Takes: "del"}, nil, false},
	} {
		if err := seen.compare(tc.info, tc.rare); (err == nil) != tc.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// talker is a lock that is none, and talks with a server.
type talker struct {
	lb.Impl
	passes, sends int
	requests      []string
}

func (t talker) Info() lb.Info { return lb.Info{Name: "talker", Requests: t.requests} }

func (t talker) Open(ctx context.Context, env *lb.Env) (lb.Client, error) {
	c, err := t.Impl.Open(ctx, env)
	return chat{c, t, env}, err
}

type chat struct {
	lb.Client
	talker
	env *lb.Env
}

func (c chat) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	for n := range max(c.passes, c.sends) {
		send := func(context.Context) error { return nil }
		if n < c.sends {
			send = c.say
		}
		if n >= c.passes {
			_ = send(ctx)
		} else if err := c.env.Send(ctx, req, "say", send); err != nil {
			return nil, err
		}
	}
	return c.Client.Acquire(ctx, req)
}

func (c chat) say(context.Context) error {
	conn, err := net.Dial("tcp", c.env.Servers[0])
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err = conn.Write([]byte("hello")); err == nil {
		_, err = conn.Read(make([]byte, 1))
	}
	return err
}
