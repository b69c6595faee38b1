package run

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/internal/clock"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/lab"
)

// Drop implements [faults.NetworkActs].
func (s *strike) Drop(ctx context.Context, from, to []faults.Node) (*faults.Drops, error) {
	return s.drop(ctx, "drop", from, to, all)
}

// Lose implements [faults.NetworkActs].
func (s *strike) Lose(ctx context.Context, from, to []faults.Node, share float64) (*faults.Drops, error) {
	return s.drop(ctx, fmt.Sprintf("drop %.0f%%", 100*share), from, to, func(n lab.Network, a, b []lab.Node) (lab.Rule, error) {
		return n.Drop(a, b, share)
	})
}

// Mute implements [faults.NetworkActs].
func (s *strike) Mute(ctx context.Context, from, to []faults.Node) (*faults.Drops, error) {
	return s.drop(ctx, "mute", from, to, lab.Network.Mute)
}

func all(n lab.Network, from, to []lab.Node) (lab.Rule, error) { return n.Drop(from, to, 1) }

func (s *strike) drop(ctx context.Context, name string, from, to []faults.Node, rule func(n lab.Network, from, to []lab.Node) (lab.Rule, error)) (*faults.Drops, error) {
	a, err := s.places(from)
	if err != nil {
		return nil, err
	}
	b, err := s.places(to)
	if err != nil {
		return nil, err
	}
	end := s.act(name, names(from)+" → "+names(to), 0)
	r, err := rule(s.lab.Network(), a, b)
	if err != nil {
		return nil, err
	}
	var gone uint64 // how many it had dropped when it was removed
	var lasted time.Duration
	start, removed := clock.Now(), false
	remove := s.acts.undone(func(ctx context.Context) (err error) {
		gone, err = r.Packets()
		removed = true
		err = errors.Join(err, r.Remove())
		lasted = clock.Now().Sub(start)
		end(english.Count(gone, "packet") + " dropped")
		return err
	})
	return &faults.Drops{End: remove,
		Packets: func() uint64 {
			if removed {
				return gone
			}
			n, _ := r.Packets() // what can't be counted is not proven
			return n
		},
		Lasted: func() time.Duration {
			if removed {
				return lasted
			}
			return clock.Now().Sub(start)
		}}, ctx.Err()
}

func names(nodes []faults.Node) string {
	var all []string
	for _, n := range nodes {
		all = append(all, n.Name())
	}
	return strings.Join(all, "+")
}
