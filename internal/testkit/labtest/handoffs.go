package labtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
)

// Env is what clients of these servers are opened with: leases of a minute, and nobody
// who watches.
func Env(servers []string, client string) *lb.Env {
	return &lb.Env{Client: client, Servers: servers, TTL: time.Minute, Clock: lb.HostClock{}, Rand: rand.New(rand.NewPCG(1, 1))}
}

// Cycle acquires and releases a lock that nobody else wants.
func Cycle(b *testing.B, impl lb.Impl, servers []string) Contestant {
	b.Helper()
	u := open(b, impl, servers, "alone")
	return Contestant{Name: impl.Info().Name, Do: func() error { return u.cycle(b.Context(), nil) }}
}

// HandOffs lets a crowd of 16 clients of each lock want it all the time, one lock after
// the other as in [Compare], and reports how often a second it was granted to another
// client than before: for the first (handoffs/s), and for each other one the median of
// its ratio to the first (NAME/FIRST). A client that takes the lock again at once has
// handed over nothing.
func HandOffs(b *testing.B, servers []string, impls ...lb.Impl) {
	b.Helper()
	const turn = 300 * time.Millisecond
	crowds, rates := make([][]*user, len(impls)), make([][]float64, len(impls))
	for i, impl := range impls {
		for n := range 16 {
			crowds[i] = append(crowds[i], open(b, impl, servers, fmt.Sprint("c", n)))
		}
	}
	for n := 0; b.Loop(); n++ {
		for i := range impls {
			i = (i + n) % len(impls)
			rates[i] = append(rates[i], handOffs(b, crowds[i], turn))
		}
	}
	first := impls[0].Info().Name
	b.ReportMetric(median(rates[0]), "handoffs/s/"+first)
	for i, impl := range impls[1:] {
		b.ReportMetric(ratio(rates[i+1], rates[0]), impl.Info().Name+"/"+first)
	}
	b.ReportMetric(0, "ns/op")
}

// user is one client of a crowd.
type user struct {
	lb.Client
	name, lock string
	count      int
}

func open(b *testing.B, impl lb.Impl, servers []string, name string) *user {
	b.Helper()
	c, err := impl.Open(b.Context(), Env(servers, name))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close() })
	return &user{Client: c, name: name, lock: impl.Info().Name}
}

// cycle calls granted while it holds the lock.
func (u *user) cycle(ctx context.Context, granted func()) error {
	u.count++
	req := lb.Request{Lock: u.lock, Owner: fmt.Sprint(u.name, ".", u.count)}
	if _, err := u.Acquire(ctx, req); err != nil {
		return err
	}
	if granted != nil {
		granted()
	}
	return u.Release(ctx, req)
}

func handOffs(b *testing.B, crowd []*user, d time.Duration) (rate float64) {
	var (
		wg    sync.WaitGroup
		over  atomic.Bool
		last  *user // under the lock, save that a lock under test may be none
		mu    sync.Mutex
		hands int
	)
	start := time.Now()
	for _, u := range crowd {
		wg.Go(func() {
			for !over.Load() {
				if err := u.cycle(b.Context(), func() {
					mu.Lock()
					defer mu.Unlock()
					if last != u && !over.Load() {
						last = u
						hands++
					}
				}); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	time.Sleep(d)
	over.Store(true)
	d = time.Since(start)
	wg.Wait()
	rate = float64(hands) / d.Seconds()
	return rate
}
