package faults

import (
	"context"
	"fmt"
)

// flappingLink goes down for a fifth of a lease and comes up for another, as a port does
// whose cable is loose: whoever tries again is now and then heard, and perhaps not answered.
func flappingLink() Fault {
	return badLink("flapping-link", "the link between the host of a client at a step, which goes on, and the lock service goes down and up, each for a fifth of a lease",
		func(ctx context.Context, on Strike, w Node) (func() (uint64, string), error) {
			fifth := on.TTL() / 5
			flaps, err := on.Flap(ctx, []Node{w}, service(on), fifth, fifth)
			return func() (uint64, string) {
				return flaps.Packets(), fmt.Sprintf(" while their link was down, %s and for %s in all", times(flaps.Times()), seconds(flaps.Down()))
			}, err
		})
}
