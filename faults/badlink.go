package faults

import (
	"context"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/lab"
)

// badLink is a link between the host of a client at a step and the lock service that fails, or works
// badly. The client goes on, and so do the others of its process.
func badLink(name, doc string, spoil func(ctx context.Context, on Strike, w Node) (told func() (packets uint64, how string), err error)) Fault {
	return Fault{Name: name, Family: Network, Doc: doc, At: whileHolding,
		Needs: []Need{AService, Can(lab.Packets)}, Hears: true,
		Inject: func(ctx context.Context, on Strike) (Proof, error) {
			v, err := on.Stop(ctx, nil, on.Step(), Delay)
			if err != nil {
				return nil, err
			}
			told, err := spoil(ctx, on, v.Worker)
			if err != nil {
				return nil, err
			}
			ear, err := on.Overhear(ctx, v.Worker)
			if err != nil {
				return nil, err
			}
			if err := v.LetGo(ctx); err != nil {
				return nil, err
			}
			return func() history.Proof {
				packets, how := told()
				vain, late := sentAgain(ear)
				return proven(vain > 0, "%s between %s and the lock service dropped%s, from when %s came to %s, and it went on; %s",
					english.Count(packets, "packet"), v.Worker.Name(), how, v.Client, on.Step(), late)
			}, nil
		}}
}

// sentAgain is how much of what was said at the hosts that were listened to had to be said again, or was an attempt
// to connect that nobody answered: packets that fell prove nothing, since some carry no word.
func sentAgain(ears ...*Ear) (vain int, told string) {
	again, unmet, missed := 0, 0, 0
	for _, ear := range ears {
		again += ear.Again()
		unmet += ear.Unmet()
		missed = max(missed, ear.Missed())
	}
	if again+unmet == 0 && missed > 0 {
		return 0, "whether anything was sent again is not known: this machine was too busy to hear " + english.Count(missed, "packet")
	}
	told = english.Count(again, "message") + " had to be sent again"
	if unmet > 0 {
		told = english.Count(unmet, "attempt") + " to connect had no answer, and " + told
	}
	return again + unmet, told
}
