package faults

import (
	"context"

	"github.com/lockbench/lockbench/lab"
)

// OperatorActs are what people do to the servers that they run.
type OperatorActs interface {
	// Promote makes a server the leader and has it reached where the old one was, for
	// lock services that do not elect one by themselves; for others it does nothing.
	Promote(ctx context.Context, server Node) error
	// Replace has the others take a new member in the place of a server that was killed, for
	// good; [ServerActs.Restart] with an empty disk starts it.
	Replace(ctx context.Context, server Node) error
	// Operate gives a server, or a sentinel, a command that people give. of is the worker
	// whose clients it is about, nil for a command that is about none.
	Operate(ctx context.Context, server Node, what lab.Operation, of Node) (*Operated, error)
	// Command strikes servers that are not lockbench's, by a command of the user's.
	Command(ctx context.Context, command lab.ShellCommand) (*Commanded, error)
}

// Operated is a command that was given. Effect is what it did, as the server counted it by
// the time it was taken back.
type Operated struct{ Effect func() lab.Effect }

// Commanded is a command of the user's that was run: what it said last, and, when it is taken
// back, for how long a server did not answer.
type Commanded struct {
	Said   string
	Outage func() lab.Outage
}
