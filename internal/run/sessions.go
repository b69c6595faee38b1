package run

import (
	"context"

	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/internal/worker"
)

// Clients implements [faults.SessionActs].
func (s *stage) Clients(ctx context.Context) (all []faults.Client, err error) {
	for _, w := range s.workers.alive() {
		told, err := w.ask(ctx, worker.Instruction{Do: worker.DoTell})
		if err != nil {
			return nil, err
		}
		for _, c := range told.Clients {
			all = append(all, faults.Client{Worker: w, Name: c.Name, Asks: c.Asks, Sessions: c.Sessions})
		}
	}
	return all, nil
}

// Expire implements [faults.SessionActs]. The newest session of each client ends first, which is
// most likely the one that it relies on.
func (s *strike) Expire(ctx context.Context, of ...faults.Client) (ended int, err error) {
	for _, c := range of {
		end, n := s.act("expire", c.Name, 0), 0
		for i := len(c.Sessions) - 1; i >= 0; i-- {
			knew, err := s.service.End(ctx, c.Sessions[i])
			if err != nil {
				return ended, err
			}
			if knew {
				n++
			}
		}
		end(english.Count(n, "session") + " ended")
		ended += n
	}
	return ended, nil
}
