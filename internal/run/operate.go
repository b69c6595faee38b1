package run

import (
	"context"

	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/lab"
)

// Operate implements [faults.OperatorActs].
func (s *strike) Operate(ctx context.Context, n faults.Node, what lab.Operation, of faults.Node) (*faults.Operated, error) {
	server, err := s.server(n)
	if err != nil {
		return nil, err
	}
	addr := ""
	if of != nil {
		w, ok := s.worker(of)
		if ok {
			addr = w.Addr()
		}
	}
	end := s.act(string(what), n.Name(), 0)
	e, err := server.Operate(ctx, what, addr)
	if e.End == nil {
		end(e.Told)
	} else { // also of what came half way
		s.acts.undone(func(ctx context.Context) (err error) {
			e, err = e.End(ctx)
			end(e.Told)
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	return &faults.Operated{Effect: func() lab.Effect { return e }}, ctx.Err()
}
