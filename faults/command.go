package faults

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/lab"
)

// command is the one by which the user of borrowed servers has the fault done, if there is one.
func (s Setting) command(f Fault) (lab.ShellCommand, bool) {
	if s.Lab.Borrowed == nil {
		return lab.ShellCommand{}, false
	}
	return s.Lab.Borrowed.Command(f.Name)
}

// ByCommand says why a command of the user's can't stand for the fault, or nil: only what
// strikes servers is somebody else's to do.
func (f Fault) ByCommand() error {
	if f.Family != Servers || f.Mix != nil {
		return fmt.Errorf("%s strikes no servers, or not them alone: lockbench does it itself", f.Name)
	}
	return nil
}

// In is the fault as it strikes there: as it is, or by the command that the user has named
// for it. The name and the length stay, and with them what locks declare.
func (f Fault) In(s Setting) Fault {
	command, ok := s.command(f)
	if !ok {
		f.Mix = slices.Clone(f.Mix)
		for i := range f.Mix {
			f.Mix[i] = f.Mix[i].In(s)
		}
		return f
	}
	return Fault{Name: f.Name, Doc: f.Doc, Family: Servers, At: whileHolding, Lasts: f.Lasts, Takes: f.Takes, MinTTL: f.MinTTL,
		Inject: func(ctx context.Context, on Strike) (Proof, error) { return byCommand(ctx, on, command) }}
}

// noticed is how long a server must not answer, beside three times what it takes usually, for a
// command to have done something to it. A busy machine makes one wait, too, but not for so long.
const noticed = 300 * time.Millisecond

// byCommand has the command run while a client holds the lock, which goes on when it has ended,
// but well within its lease: to overstay is another fault. What the command did nobody here
// knows. So it has proven something if a server did not answer for a
// while, or if another leads.
func byCommand(ctx context.Context, on Strike, command lab.ShellCommand) (Proof, error) {
	before, err := leads(ctx, on)
	if err != nil {
		return nil, err
	}
	v, err := on.Stop(ctx, nil, on.Step(), Delay)
	if err != nil {
		return nil, err
	}
	var done *Commanded
	ended := make(chan error, 1)
	go func() {
		var err error
		done, err = on.Command(ctx, command)
		ended <- err
	}()
	select {
	case err = <-ended:
		ended <- err
	case <-time.After(on.TTL() / 2):
	}
	if err := errors.Join(v.LetGo(ctx), <-ended); err != nil {
		return nil, err
	}
	after, _ := leads(ctx, on)
	if err := on.Sleep(ctx, 2*noticed); err != nil { // some commands only order what happens then
		return nil, err
	}
	return func() history.Proof {
		if after == before {
			asking, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			after, _ = leads(asking, on)
		}
		o := done.Outage()
		switch ran := fmt.Sprintf("the command ran while %s (it said %q)", on.standing(v), done.Said); {
		case before != "" && after != "" && before != after:
			return proven(true, "%s; %s led before, and %s after", ran, before, after)
		case o.For >= noticed+3*o.Usual:
			return proven(true, "%s; %s did not answer for %s", ran, o.Server, seconds(o.For))
		default:
			return proven(false, "%s, and every server answered within %s all the while", ran, seconds(o.For))
		}
	}, nil
}

// leads is the name of the server that leads, "" where none does.
func leads(ctx context.Context, on Strike) (string, error) {
	if !on.Setting().Topology.Leads() {
		return "", nil
	}
	leader, err := on.Leader(ctx, nil)
	if err != nil {
		return "", errors.Join(errors.New("nobody leads"), err)
	}
	return leader.Name(), nil
}
