package faults

import (
	"context"
	"fmt"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/lab"
)

// cut cuts the host of a client off the lock service, but not off the protected
// store, while the client stays at the step for longer than its lease: it can still
// write, and it can neither renew nor ask.
func cut() Fault {
	return Fault{Name: "cut", Family: Network, At: whileHolding, Trouble: history.Partition,
		Doc:   "drop all packets between the host of a client at a step and the lock service, until after its lease",
		Needs: []Need{AService, Can(lab.Packets)}, Prefers: AnEnsemble,
		Hears: true,
		Inject: func(ctx context.Context, on Strike) (Proof, error) {
			v, err := on.Stop(ctx, nil, on.Step(), Delay)
			if err != nil {
				return nil, err
			}
			drops, err := cutOff(ctx, on, []Node{v.Worker}, service(on))
			if err != nil {
				return nil, err
			}
			ear, err := on.Overhear(ctx, v.Worker)
			return func() history.Proof {
				said, told := ear.Fell()
				return fell(on, v, ear, said+told, drops, "between "+v.Worker.Name()+" and the lock service", "")
			}, err
		}}
}

// fell proves a cut by what did not arrive while its victim stood there: what it said when it was let go
// does not count, and nobody can have missed what nobody said.
func fell(on Strike, v *Victim, ear *Ear, said int, drops *Drops, where, besides string) history.Proof {
	stood := fmt.Sprintf("%s stood at %s for %s", v.Client, on.Step(), seconds(v.Stopped()))
	switch {
	case said == 0 && ear.Missed() > 0:
		return proven(false, "%s; whether anything %s failed to arrive meanwhile is not known: this machine was too busy to hear %s", stood, where, english.Count(ear.Missed(), "packet"))
	case said == 0:
		return proven(false, "%s, and nothing %s failed to arrive meanwhile: to this lock that was a delay, and no cut", stood, where)
	}
	return proven(v.Stopped() > 0, "%s, and %s %s did not arrive meanwhile; dropped in all: %s%s", stood, english.Count(said, "message"), where, english.Count(drops.Packets(), "packet"), besides)
}

func cutHolder() Fault {
	return named(cut(), "cut-holder",
		"drop all packets between a working holder's host and the lock service, until after its lease", whileHolding)
}
