package bench

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"sync/atomic"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/backends"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/internal/catalog"
	"github.com/lockbench/lockbench/internal/clock"
	"github.com/lockbench/lockbench/internal/cost"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
	"github.com/lockbench/lockbench/lab"
	"github.com/redis/go-redis/v9"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// local is a lock in memory, first come first served or not at all.
type local struct {
	held  chan struct{} // full while it is held
	owner atomic.Value
	broke string // what it does wrong
}

func (l *local) Info() lb.Info {
	return lb.Info{Name: "local", Topologies: []string{"none"}, Requests: []string{"take"}, Takes: "take"}
}

func (l *local) Open(ctx context.Context, env *lb.Env) (lb.Client, error) {
	switch l.broke {
	case "open":
		return nil, errors.New("refused")
	case "open slowly":
		<-ctx.Done()
		return nil, ctx.Err()
	case "open never":
		select {}
	}
	return localClient{l, env}, nil
}

type localClient struct {
	*local
	env *lb.Env
}

func (c localClient) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	switch c.broke {
	case "panic":
		panic("a bug")
	case "hang":
		select {}
	case "fail":
		return nil, lb.ErrNoEffect
	}
	return c.env.Grant(req, 0, 0), c.env.Send(ctx, req, "take", func(ctx context.Context) error {
		select {
		case c.held <- struct{}{}:
			c.owner.Store(req.Owner)
			return nil
		case <-ctx.Done():
			return lb.ErrNoEffect
		}
	})
}

func (c localClient) Release(_ context.Context, req lb.Request) error {
	if c.broke != "" {
		return nil
	}
	if !c.owner.CompareAndSwap(req.Owner, "") {
		return lb.ErrLost
	}
	<-c.held
	return nil
}

func (c localClient) Close() error { return nil }

// measured does rounds with a row, without a lab, until enough says that they are: at most
// twenty, on a machine that is busy.
func measured(t *testing.T, plan cost.Plan, l *local, enough func(*cost.Bench) bool) *cost.Bench {
	t.Helper()
	m := &measurement{plan: plan, out: &cost.Bench{}, rand: rand.New(rand.NewPCG(1, 0)), given: map[string]error{}}
	m.plan.TTL, m.plan.Rounds = 500*time.Millisecond, 20
	m.rows = []row{{l, &service{servers: cost.Memory, up: &lab.Service{}}}}
	m.cells()
	for n := range m.plan.Rounds {
		if err := m.round(t.Context(), n, m.rows, 600*time.Millisecond); err != nil {
			t.Fatal(err)
		}
		if enough(m.out) {
			break
		}
	}
	return m.out
}

func newLocal(broke string) *local { return &local{held: make(chan struct{}, 1), broke: broke} }

func TestRounds(t *testing.T) {
	wanted := map[cost.Key][]cost.Measure{
		cost.Uncontended("local", cost.Memory): {cost.Cycle, cost.Grants, cost.Requests},
		cost.Contended("local", cost.Memory):   {cost.HandOffs, cost.P50, cost.P99, cost.Fair, cost.Longest, cost.Requests, cost.WakeUps, cost.Barges},
		{Algorithm: "local", Servers: cost.Memory, Loop: cost.Open, Clients: cost.Contenders, Locks: 1}:    {cost.P50, cost.Grants},
		{Algorithm: "local", Servers: cost.Memory, Loop: cost.Closed, Clients: 64, Locks: 1}:               {cost.Grants},
		{Algorithm: "local", Servers: cost.Memory, Loop: cost.Closed, Clients: cost.Contenders, Locks: 10}: {cost.Grants},
	}
	missing := func(b *cost.Bench) (list []string) {
		for k, measures := range wanted {
			for _, m := range measures {
				if f := b.Figure(k, m); f == nil || len(f.Values) == 0 {
					list = append(list, fmt.Sprintf("%s: %s", k, m))
				}
			}
		}
		return list
	}
	b := measured(t, cost.Plan{Rate: 1000}, newLocal(""), func(b *cost.Bench) bool { return len(missing(b)) == 0 })
	if list := missing(b); len(list) > 0 {
		t.Fatalf("not measured: %q", list)
	}
	one := cost.Contended("local", cost.Memory)
	if f := b.Figure(one, cost.Overlaps); f.Median != 0 {
		t.Errorf("a lock that overlaps: %+v", f)
	}
	if f := b.Figure(cost.Uncontended("local", cost.Memory), cost.Requests); f.Median != 1 {
		t.Errorf("a cycle is one request, not %v", f.Median)
	}
	open := b.Figure(cost.Key{Algorithm: "local", Servers: cost.Memory, Loop: cost.Open, Clients: cost.Contenders, Locks: 1}, cost.Grants)
	if open.Median < 300 || open.Median > 2000 {
		t.Errorf("at a rate of 1000 a second there were %v grants a second", open.Median)
	}
}

// TestFailingRows: what a row does wrong costs it its figures, and says why; the row
// beside it has its own.
func TestFailingRows(t *testing.T) {
	for broke, why := range map[string]string{
		"open": "open a session: refused", "panic": "uncontended: the lock panicked: a bug",
		"fail": "uncontended: lockbench: request had no effect", "hang": "",
	} {
		t.Run(broke, func(t *testing.T) {
			t.Parallel()
			if broke == "hang" {
				hang(t)
				return
			}
			b := measured(t, cost.Plan{Short: true}, newLocal(broke), func(*cost.Bench) bool { return true })
			if c := b.Find(cost.Uncontended("local", cost.Memory)); c.Failed != why || len(c.Figures) != 0 {
				t.Errorf("%q, %v", c.Failed, c.Figures)
			}
			if c := b.Find(cost.Contended("local", cost.Memory)); c.Failed == "" || c.Figures[cost.HandOffs] != nil {
				t.Errorf("%q, %v", c.Failed, c.Figures)
			}
		})
	}
}

// TestHungOpening: a row whose sessions do not open costs its own time once, and is then
// left alone.
func TestHungOpening(t *testing.T) {
	for _, broke := range []string{"open slowly", "open never"} {
		t.Run(broke, func(t *testing.T) {
			t.Parallel()
			rounds := 0
			start := time.Now()
			b := measured(t, cost.Plan{Short: true}, newLocal(broke), func(*cost.Bench) bool { rounds++; return rounds == 5 })
			if took := time.Since(start); took > 2*leastOpen {
				t.Errorf("%d rounds took %v", rounds, took)
			}
			why := "open 16 sessions within 4s: its clients do not come to an end"
			if c := b.Find(cost.Contended("local", cost.Memory)); c.Failed != why || c.Failures != rounds {
				t.Errorf("%q, %d times", c.Failed, c.Failures)
			}
		})
	}
	for budget, bound := range map[time.Duration]time.Duration{-1: leastOpen, time.Second: leastOpen, 5 * time.Second: 5 * time.Second, time.Minute: openBound} {
		if got := openWithin(budget); got != bound {
			t.Errorf("with %v they may take %v", budget, got)
		}
	}
}

// hang: clients that never come back are left behind.
func hang(t *testing.T) {
	p := &party{row: row{newLocal("hang"), &service{servers: cost.Memory, up: &lab.Service{}}}, ttl: 100 * time.Millisecond}
	if err := p.grow(t.Context(), 2, openBound); err != nil {
		t.Fatal(err)
	}
	_, err := newCrowd(p, 2, []string{"l"}).together(t.Context(), 50*time.Millisecond, func() {}, func() {})
	if !errors.Is(err, errHung) {
		t.Errorf("%v", err)
	}
}

// TestOpenLoop: what a lock that does not keep up still owes counts, too.
func TestOpenLoop(t *testing.T) {
	l := newLocal("")
	l.held <- struct{}{} // nobody will ever get it
	p := &party{row: row{l, &service{servers: cost.Memory, up: &lab.Service{}}}, ttl: 100 * time.Millisecond}
	if err := p.grow(t.Context(), 4, openBound); err != nil {
		t.Fatal(err)
	}
	c := newCrowd(p, 4, []string{"l"})
	c.next = atRate(1000, 4, 1)
	r, err := c.together(t.Context(), 200*time.Millisecond, func() {}, func() {})
	if err != nil || r.waits.Len() < 100 || r.waits.At(.5) < 50*time.Millisecond {
		t.Errorf("%v: of 200 that were due %d count, the median has waited %v", err, r.waits.Len(), r.waits.At(.5))
	}
}

// raw is go-redis itself behind the bench's doors: what the bench adds to it is the
// difference to the same calls without them.
type raw struct{ lb.Impl }

func (raw) Open(_ context.Context, env *lb.Env) (lb.Client, error) {
	return rawClient{env, redis.NewClient(&redis.Options{Addr: env.Servers[0], MaxRetries: -1, PoolSize: 1, DisableIdentity: true})}, nil
}

type rawClient struct {
	env *lb.Env
	*redis.Client
}

func (c rawClient) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	return c.env.Grant(req, 0, 0), c.env.Send(ctx, req, "set", func(ctx context.Context) error {
		return c.SetNX(ctx, req.Lock, req.Owner, c.env.TTL).Err()
	})
}

func (c rawClient) Release(ctx context.Context, req lb.Request) error {
	return c.env.Send(ctx, req, "compare-and-delete", func(ctx context.Context) error { return c.Del(ctx, req.Lock).Err() })
}

// TestHarness compares a cycle on Redis through the bench with the same calls without
// it, in turn. The aim is 3%; the limit leaves room for a machine that others use. These take from either, but
// more from what is in more hands, so that of up to twenty tries the best counts: what the bench itself adds is in
// each.
func TestHarness(t *testing.T) {
	const limit, tries = 1.15, 20
	servers := labtest.Servers(t, "redis")
	impl, _ := impls.Find("redis-setpx-lua")
	c := redis.NewClient(&redis.Options{Addr: servers[0].Endpoint(), MaxRetries: -1, PoolSize: 1, DisableIdentity: true})
	defer c.Close()
	n := 0
	y := &lab.Yardstick{
		Floor: func(ctx context.Context) error { return c.Ping(ctx).Err() },
		Writes: func(ctx context.Context) error {
			n++
			owner := fmt.Sprintf("raw.%d", n)
			return errors.Join(c.SetNX(ctx, "raw", owner, time.Minute).Err(), c.Del(ctx, "raw").Err())
		},
	}
	p := &party{row: row{raw{impl}, &service{servers: cost.Memory, up: &lab.Service{Servers: servers}, yard: y}}, ttl: time.Minute}
	if err := p.grow(t.Context(), 1, openBound); err != nil {
		t.Fatal(err)
	}
	defer p.close()
	best := math.Inf(1)
	for range tries {
		a, err := uncontended(t.Context(), p, "bench", time.Second)
		if err != nil {
			t.Fatal(err)
		}
		best = min(best, float64(a.cycle.At(.5))/float64(a.writes.At(.5)))
		if best <= limit {
			break
		}
	}
	t.Logf("through the bench a cycle takes %.3f times as long as without it, at best", best)
	if best > limit {
		t.Errorf("that is more than %.2f times", limit)
	}
}

// TestColumns: Redis' log is waited for in one column only: that is what the column is for.
func TestColumns(t *testing.T) {
	impl, _ := impls.Find("redis-setpx-lua")
	c := catalog.Catalog{Locks: []lb.Impl{impl}, Topologies: backends.Topologies()}
	rows, err := bringUp(t.Context(), labtest.Lab(t), lab.Driver{}, c, cost.Plan{Algorithms: []string{"redis-setpx-lua"}}, group{
		data: t.TempDir(), log: func(string) (*os.File, error) { return os.CreateTemp(t.TempDir(), "log") }})
	if err != nil {
		t.Fatal(err)
	}
	got := map[cost.Servers]string{}
	for _, r := range rows {
		c := redis.NewClient(&redis.Options{Addr: r.on.up.Servers[0].Endpoint()})
		defer c.Close()
		set, err := c.ConfigGet(t.Context(), "append*").Result()
		if err != nil {
			t.Fatal(err)
		}
		got[r.on.servers] = set["appendonly"] + " " + set["appendfsync"]
	}
	if want := map[cost.Servers]string{cost.Disk: "yes always", cost.Memory: "no everysec"}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestDisk(t *testing.T) {
	q, err := diskSync(t.TempDir())
	if err != nil || len(q) == 0 || q[len(q)-1].At <= 0 {
		t.Errorf("%v, %v", q, err)
	}
}

func TestParseStat(t *testing.T) {
	pid, p, ok := parseStat("42 (a (b) c) S 1 7 7 0 -1 4194560 1 2 3 4 250 50 0 0 20 0 1 0 100 4096 33 18446744073709551615")
	if !ok || pid != 42 || p.name != "a (b) c" || p.ticks != 300 {
		t.Errorf("%d %+v %v", pid, p, ok)
	}
	for _, bad := range []string{"", "42", "42 (x", "42 (x) S 1 2", "x (x) S 1 7 7 0 -1 4194560 1 2 3 4 250 50 0 0 20 0 1 0 100 4096 33"} {
		if _, _, ok := parseStat(bad); ok {
			t.Errorf("%q was read", bad)
		}
	}
}

// TestNoise: a busy neighbour is named.
func TestNoise(t *testing.T) {
	busy := seen{others: .5, steal: .02, who: []string{"make 50%"}, known: true}
	if got := busy.noise("before"); len(got) != 2 {
		t.Errorf("%q", got)
	}
	if got := (seen{known: true}).noise("before"); len(got) != 0 {
		t.Errorf("a quiet machine: %q", got)
	}
	n := &neighbours{known: true, others: []float64{0, .3, .01}, steal: []float64{0, 0, 0}}
	if got := n.noise(); len(got) != 1 || got[0] != "in 1 of 3 rounds others were busy, at most 30% of the processors" {
		t.Errorf("%q", got)
	}
	ctx, cancel := context.WithTimeout(t.Context(), lookFor)
	defer cancel()
	go func() {
		for start := clock.Now(); clock.Now().Sub(start) < lookFor; {
		}
	}()
	if s := look(ctx); s.known && s.others == 0 {
		t.Error("a processor that is busy is not seen")
	}
}
