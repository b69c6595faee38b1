package faults

import (
	"context"
	"fmt"
)

// lossyLink loses a fifth of the packets each way, so that a third of all requests are
// late: TCP sends what was lost again, after a fifth of a second and then twice as long each
// time.
func lossyLink() Fault {
	return badLink("lossy-link", "a fifth of the packets between the host of a client at a step, which goes on, and the lock service are lost, by chance",
		func(ctx context.Context, on Strike, w Node) (func() (uint64, string), error) {
			const share = 0.2
			there, err := on.Lose(ctx, []Node{w}, service(on), share)
			if err != nil {
				return nil, err
			}
			back, err := on.Lose(ctx, service(on), []Node{w}, share)
			return func() (uint64, string) {
				return there.Packets() + back.Packets(), fmt.Sprintf(" by chance, one of five, for %s", seconds(back.Lasted()))
			}, err
		})
}
