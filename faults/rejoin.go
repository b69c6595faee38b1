package faults

import (
	"context"

	"github.com/lockbench/lockbench/history"
)

// cutRejoin cuts the host of a client off the lock service when it comes to a step, and
// lets it go on: it asks, waits and connects again, and perhaps comes back to a session
// that it still has, by a connection from before. [cut] keeps the client where it is.
func cutRejoin() Fault {
	f := badLink("cut-rejoin", "drop all packets between the host of a client at a step, which goes on, and the lock service, until after its lease",
		func(ctx context.Context, on Strike, w Node) (func() (uint64, string), error) {
			drops, err := cutOff(ctx, on, []Node{w}, service(on))
			return func() (uint64, string) { return drops.Packets(), " for " + seconds(drops.Lasted()) }, err
		})
	f.Trouble, f.Prefers, f.Lasts = history.Partition, AnEnsemble, Length{TTLs: 1.5}
	return f
}
