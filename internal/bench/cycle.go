package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/clock"
	"github.com/lockbench/lockbench/internal/cost"
)

// turn is how long one of those that are compared goes on before the next has its turn:
// long enough for caches to be warm, and so short that a busy neighbour meets all alike.
const turn = 4 * time.Millisecond

// compared is something that is done again and again, beside others.
type compared struct {
	do func(context.Context) error
	in *cost.Latencies
}

// alone is what one client alone pays.
type alone struct {
	cycle, floor, writes *cost.Latencies
	requests             float64 // a cycle
}

// uncontended measures the cycle of one client, and with it, turn by turn, the floor and
// the bare writes of the same server.
func uncontended(ctx context.Context, p *party, lock string, window time.Duration) (a alone, err error) {
	c := p.clients[0]
	n := 0
	one := p.cycle(lock, &n)
	a = alone{cycle: one.in, floor: cost.NewLatencies(), writes: cost.NewLatencies()}
	all := []compared{one}
	if y := p.row.on.yard; y != nil {
		all = append(all, compared{y.Floor, a.floor}, compared{y.Writes, a.writes})
	}
	before := c.count.requests.Load()
	if err := inTurns(ctx, all, window, p.ttl, c.env.Rand); err != nil {
		return a, fmt.Errorf("uncontended: %w", err)
	}
	a.requests = float64(c.count.requests.Load()-before) / float64(n)
	return a, nil
}

// cycles measures the cycle of one client, and nothing beside it.
func cycles(ctx context.Context, p *party, lock string, window time.Duration) (*cost.Latencies, error) {
	one := p.cycle(lock, new(int))
	if err := inTurns(ctx, []compared{one}, window, p.ttl, p.clients[0].env.Rand); err != nil {
		return nil, fmt.Errorf("uncontended, where the processors may sleep: %w", err)
	}
	return one.in, nil
}

// cycle is an acquisition and a release by the first client, each of which is counted in n.
func (p *party) cycle(lock string, n *int) compared {
	c := p.clients[0]
	return compared{func(ctx context.Context) error {
		req := c.request(lock)
		if err := c.acquire(ctx, req); err != nil {
			return err
		}
		*n++
		return c.release(ctx, req)
	}, cost.NewLatencies()}
}

// inTurns does one after the other, in an order that changes, until the window is over, and
// patience longer for what is slow: what always came behind the writes would find a disk
// that is still busy with them. The first fifth is warm-up.
func inTurns(ctx context.Context, all []compared, window, patience time.Duration, order *rand.Rand) error {
	ctx, cancel := context.WithTimeout(ctx, window+patience)
	defer cancel()
	start := clock.Now()
	warm := start.Add(window / 5)
	missing := func(c compared) bool { return c.in.Len() == 0 }
	for clock.Now().Sub(start) < window || slices.ContainsFunc(all, missing) {
		for _, i := range order.Perm(len(all)) {
			if err := all[i].turn(ctx, warm); err != nil {
				return err
			}
		}
	}
	return nil
}

// turn does it at least once, and records how long each took that began warm.
func (c compared) turn(ctx context.Context, warm lb.Instant) error {
	for start, call := clock.Now(), clock.Now(); ; {
		if err := c.do(ctx); err != nil {
			return err
		}
		end := clock.Now()
		if call >= warm {
			c.in.Add(end.Sub(call))
		}
		if end.Sub(start) >= turn {
			return nil
		}
		call = end
	}
}
