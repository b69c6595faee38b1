package run

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/lab"
)

// Command implements [faults.OperatorActs].
func (s *strike) Command(ctx context.Context, order lab.Order) (*faults.Commanded, error) {
	outside, ok := s.lab.(lab.Commander)
	if !ok {
		return nil, errors.New("run: this lab runs no commands")
	}
	seen, err := outside.Watch(ctx)
	if err != nil {
		return nil, err
	}
	var outage lab.Outage
	s.acts.undone(func(context.Context) (err error) {
		outage, err = seen()
		return err
	})
	run := func(ctx context.Context, command string) (string, error) {
		end := s.act(fmt.Sprintf("run %q", command), "servers", 0)
		said, err := outside.Command(ctx, command)
		end(said)
		return said, err
	}
	if order.Undo != "" { // also of what came half way
		s.acts.undone(func(ctx context.Context) error {
			_, err := run(ctx, order.Undo)
			return err
		})
	}
	said, err := run(ctx, order.Do)
	if err != nil {
		return nil, err
	}
	return &faults.Commanded{Said: said, Outage: func() lab.Outage { return outage }}, ctx.Err()
}
