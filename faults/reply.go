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
		Hears:  true,
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
	w, err := withhold(ctx, on, v, on.Drop)
	if err != nil {
		return nil, err
	}
	if err := beside(ctx); err != nil {
		return nil, err
	}
	return func() history.Proof {
		if len(w.answers) == 0 {
			return proven(false, "%s went on from %s, and %s", v.Client, on.Step(), w.none())
		}
		return proven(true, "the lock service answered what %s asked from %s on (%s), %s; the answer did not arrive, for %s",
			v.Client, on.Step(), w.asked(), w.others(), seconds(w.drops.Lasted()))
	}, nil
}
