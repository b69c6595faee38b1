package faults

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/workloads"
)

// The moments of a holder: it begins to work, and is at work.
const (
	whileBeginning = workloads.StepBegun
	whileHolding   = workloads.StepWork
)

// promotionTTL is longer than a promotion or a restart takes: a shorter lease is over
// before anybody else can be granted the lock.
const promotionTTL = 4 * time.Second

// aGrant waits until somebody has the lock.
func aGrant(ctx context.Context, on ClientActs) error {
	return on.Passed(ctx, whileBeginning, nil, nil)
}

// cutOff drops all packets between the two sides, both ways.
func cutOff(ctx context.Context, on NetworkActs, a, b []Node) (*Drops, error) {
	there, err := on.Drop(ctx, a, b)
	if err != nil {
		return nil, err
	}
	back, err := on.Drop(ctx, b, a)
	if err != nil {
		return nil, err
	}
	return &Drops{
		Packets: func() uint64 { return there.Packets() + back.Packets() },
		Lasted:  back.Lasted,
		End: func(ctx context.Context) error {
			if err := there.End(ctx); err != nil {
				return err
			}
			return back.End(ctx)
		},
	}, nil
}

// service is everything that the lock service consists of.
func service(on Scene) []Node { return append(on.Servers(), on.Sentinels()...) }

// others are all nodes but one.
func others(all []Node, but Node) (rest []Node) {
	for _, n := range all {
		if n.Name() != but.Name() {
			rest = append(rest, n)
		}
	}
	return rest
}

// oneOf draws by the seed.
func oneOf(on Stage, all []Node) Node { return all[on.Rand().IntN(len(all))] }

func names(nodes []Node) string {
	var all []string
	for _, n := range nodes {
		all = append(all, n.Name())
	}
	return strings.Join(all, "+")
}

// proven is a proof in words.
func proven(ok bool, format string, args ...any) history.Proof {
	return history.Proof{Proven: ok, Measured: fmt.Sprintf(format, args...)}
}

// seconds prints a duration as the reports do.
func seconds(d time.Duration) string { return fmt.Sprintf("%.3f s", d.Seconds()) }

// off says how far a clock is ahead, or behind.
func off(ahead time.Duration) string {
	if ahead < 0 {
		return seconds(-ahead) + " behind"
	}
	return seconds(ahead) + " ahead"
}
