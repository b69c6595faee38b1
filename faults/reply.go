package faults

import (
	"context"
	"time"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/lab"
)

// loseReply lets the next request that a client sends from a step on reach the lock
// service, and loses the answer: what was asked for is done, and the client does not know.
// The next request of a holder at work is that by which it gives the lock back, or a
// renewal. Until the fault is healed the process hears nothing more.
func loseReply() Fault {
	return Fault{Name: "lose-reply", Family: Network, At: whileHolding,
		Also:   []Family{Servers}, // what they acknowledge without an answer would seem to be one
		Doc:    "the lock service gets what a client at a step asks next, and the answer never arrives",
		Needs:  []Need{AService, Requests, Can(lab.Packets)},
		Inject: withholdReply}
}

// slowReply is [loseReply] for less than a lease: TCP sends the answer again.
func slowReply() Fault {
	f := loseReply()
	f.Name, f.Doc = "slow-reply", "the lock service gets what a client at a step asks next, and the answer arrives late, after most of a lease or a little more than one"
	f.Lasts = Length{TTLs: 0.7}
	return f
}

// withholdReply stops a client at the step and keeps the others of its process from
// asking for anything, so that what is answered is the one request.
func withholdReply(ctx context.Context, on Strike) (Proof, error) {
	v, err := on.Stop(ctx, nil, on.Step(), Delay)
	if err != nil {
		return nil, err
	}
	beside, err := on.HoldBeside(ctx, v)
	if err != nil {
		return nil, err
	}
	const onTheWay = 50 * time.Millisecond // answers to what they have asked before
	if err := on.Sleep(ctx, onTheWay); err != nil {
		return nil, err
	}
	unanswered, drops, err := withhold(ctx, on, v)
	if err != nil {
		return nil, err
	}
	if err := beside(ctx); err != nil {
		return nil, err
	}
	return func() history.Proof {
		if unanswered == 0 {
			return proven(false, "%s went on from %s, and the lock service did not answer it within half a lease", v.Client, on.Step())
		}
		return proven(true, "the lock service answered what %s asked from %s on, and nobody else of its process had asked; the answer, %s, did not arrive, for %s",
			v.Client, on.Step(), packetsOf(unanswered), seconds(drops.Lasted()))
	}, nil
}
