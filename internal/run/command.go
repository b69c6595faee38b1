package run

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/lab"
)

// Command implements [faults.OperatorActs].
func (s *strike) Command(ctx context.Context, command lab.ShellCommand) (*faults.Commanded, error) {
	outside, ok := s.lab.(lab.Commander)
	if !ok {
		return nil, errors.New("this lab runs no commands")
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
	run := func(ctx context.Context, line string) (string, error) {
		end := s.act(fmt.Sprintf("run %q", line), "servers", 0)
		said, err := outside.Command(ctx, line)
		end(said)
		return said, err
	}
	if command.Undo != "" { // also of what came half way
		s.acts.undone(func(ctx context.Context) error {
			_, err := run(ctx, command.Undo)
			return err
		})
	}
	said, err := run(ctx, command.Do)
	if err != nil {
		return nil, err
	}
	return &faults.Commanded{Said: said, Outage: func() lab.Outage { return outage }}, ctx.Err()
}
