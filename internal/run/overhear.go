package run

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/internal/tap"
	"github.com/lockbench/lockbench/lab"
)

// tapped is what is said between a worker's host and the lock service.
type tapped struct {
	tap.Tap
	host lab.Overheard
}

// listen listens to a host before anything connects from there.
func (s *stage) listen(h lab.Host) error {
	store, err := netip.ParseAddr(s.store.Addr())
	if err != nil {
		return fmt.Errorf("overhear %s: %w", h.Name(), err)
	}
	t := &tapped{Tap: tap.Tap{Speaks: s.setting.Topology.Kind.Speaks}}
	t.host, err = s.lab.Network().Overhear(h, func(g lab.Segment) {
		if g.From.Addr() != store && g.To.Addr() != store { // that is no lock service
			t.Hear(g)
		}
	})
	if err == nil {
		s.taps[h] = t
	}
	return err
}

// Overhear implements [faults.NetworkActs].
func (s *strike) Overhear(_ context.Context, n faults.Node) (*faults.Ear, error) {
	w, ok := s.worker(n)
	if !ok || s.taps[w.host] == nil {
		return nil, fmt.Errorf("nobody listens to %s", n.Name())
	}
	t := s.taps[w.host]
	ear := t.Listen()
	var said, told, again, unmet int
	s.acts.before(func() { said, told = ear.Fell(); again = ear.Again(); unmet = ear.Unmet() })
	s.acts.undone(func(context.Context) error { ear.Close(); return nil })
	return &faults.Ear{Open: ear.Open(), Fell: func() (int, int) { return said, told }, Again: func() int { return again }, Unmet: func() int { return unmet },
		Answers: ear.Answers, Missed: t.host.Missed}, nil
}
