package run

import (
	"context"

	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/internal/english"
)

// Disconnect implements [faults.NetworkActs].
func (s *strike) Disconnect(ctx context.Context, servers, workers []faults.Node) (*faults.Disconnected, error) {
	at, err := s.places(servers)
	if err != nil {
		return nil, err
	}
	from, err := s.places(workers)
	if err != nil {
		return nil, err
	}
	end := s.act("disconnect", names(workers)+" ↔ "+names(servers), 0)
	open, err := s.lab.Network().Connections(at, from)
	if err != nil {
		return nil, err
	}
	for _, c := range open {
		if err := c.End(); err != nil {
			return nil, err
		}
	}
	end(english.Count(len(open), "connection") + " ended")
	again := 0
	s.acts.undone(func(context.Context) error {
		open, err := s.lab.Network().Connections(at, from)
		again = len(open)
		return err
	})
	return &faults.Disconnected{Ended: len(open), Again: func() int { return again }}, ctx.Err()
}
