package faults

import (
	"context"

	"github.com/lockbench/lockbench/history"
)

// restart kills a server while a client holds the lock and starts it again at once,
// with what its disk holds or, if empty, after it has forgotten everything.
func restart(name, doc string, empty bool, needs ...Need) Fault {
	return Fault{Name: name, Family: Servers, At: whileHolding, Doc: doc, Trouble: history.Failover, Needs: append([]Need{AService}, needs...), Prefers: AnEnsemble,
		Inject: func(ctx context.Context, on Strike) (Proof, error) {
			v, s, err := killUnder(ctx, on)
			if err != nil {
				return nil, err
			}
			down, err := on.Restart(ctx, s, empty)(ctx)
			if err != nil {
				return nil, err
			}
			return func() history.Proof {
				return proven(true, "%s was killed while %s, and answered again after %s", s.Name(), on.standing(v), seconds(down))
			}, nil
		}}
}

func restartServer() Fault {
	return restart("restart-server", "SIGKILL a server while a client holds the lock, and start it again with its disk", false)
}

func restartEmpty() Fault {
	return restart("restart-empty", "SIGKILL a server while a client holds the lock, and start it again with an empty disk", true, NoCluster)
}

// killUnder kills a server while a client stands at the fault's step: one of those that a grant
// waits for.
func killUnder(ctx context.Context, on Strike) (*Victim, Node, error) {
	v, err := on.Stop(ctx, nil, on.Step(), Delay)
	if err != nil {
		return nil, nil, err
	}
	s := oneOf(on, on.Servers())
	if AnswersMatter(on.Setting()) != nil {
		if s, err = on.Leader(ctx, nil); err != nil {
			return nil, nil, err
		}
	}
	return v, s, on.Kill(ctx, s)
}

// killTwo kills two of five servers: as many as a quorum of five may lose.
func killTwo() Fault {
	return Fault{Name: "kill-two", Family: Servers, Trouble: history.Failover, Doc: "SIGKILL two of five servers, the leader among them; they come back when healed",
		Needs: []Need{FiveServers},
		Inject: func(ctx context.Context, on Strike) (Proof, error) {
			if err := aGrant(ctx, on); err != nil {
				return nil, err
			}
			few, _ := halves(ctx, on)
			for _, s := range few {
				if err := on.Kill(ctx, s); err != nil {
					return nil, err
				}
			}
			return func() history.Proof { return proven(true, "%s were killed and came back", names(few)) }, nil
		}}
}
