package faults

import (
	"context"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/lab"
)

// badLink is a link between the host of a client at a step and the lock service that
// neither works nor fails. The client goes on, and so do the others of its process.
func badLink(name, doc string, spoil func(ctx context.Context, on Strike, w Node) (told func() (packets uint64, how string), err error)) Fault {
	return Fault{Name: name, Family: Network, Doc: doc, At: whileHolding,
		Needs: []Need{AService, Can(lab.Packets)},
		Inject: func(ctx context.Context, on Strike) (Proof, error) {
			v, err := on.Stop(ctx, nil, on.Step(), Delay)
			if err != nil {
				return nil, err
			}
			told, err := spoil(ctx, on, v.Worker)
			if err != nil {
				return nil, err
			}
			if err := v.LetGo(ctx); err != nil {
				return nil, err
			}
			return func() history.Proof {
				packets, how := told()
				return proven(packets > 0, "%s between %s and the lock service dropped%s, from when %s came to %s, and it went on",
					english.Count(packets, "packet"), v.Worker.Name(), how, v.Client, on.Step())
			}, nil
		}}
}
