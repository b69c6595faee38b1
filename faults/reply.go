package faults

import (
	"context"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/english"
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
	f.Lasts, f.Drags = Length{TTLs: 0.7}, true
	return f
}

// resetReply loses the answer with its connection, as a server's crash, a proxy or a firewall does behind
// what was done: the client knows at once that it knows nothing, and many a library asks again by itself.
func resetReply() Fault {
	f := loseReply()
	f.Name, f.Doc = "reset-reply", "the lock service gets what a client at a step asks next, and instead of the answer the connections of its host are reset"
	f.Lasts, f.Inject = resetting, resetTheReply
	return f
}

// resetting is how long it is in force: it is over at once, and what comes of it takes no longer than others.
var resetting = Length{TTLs: 0.9}

// withholdReply stops a client at the step and keeps the others of its process from
// asking for anything, so that what is answered is the one request.
func withholdReply(ctx context.Context, on Strike) (Proof, error) {
	v, beside, err := aside(ctx, on)
	if err != nil {
		return nil, err
	}
	w, err := withhold(ctx, on, v, on.Drop, withheld.any)
	if err != nil {
		return nil, err
	}
	return w.replyProof(on, v, func() string { return w.keptBack(v) }), beside(ctx)
}

// resetTheReply does the same, and then ends the connections from the servers' side, which say no more
// about it.
func resetTheReply(ctx context.Context, on Strike) (Proof, error) {
	v, beside, err := aside(ctx, on)
	if err != nil {
		return nil, err
	}
	w, err := withhold(ctx, on, v, on.Mute, withheld.any)
	if err != nil {
		return nil, err
	}
	gone, err := w.reset(ctx, on, v)
	if err != nil {
		return nil, err
	}
	return w.replyProof(on, v, func() string {
		return fmt.Sprintf("was lost with its connection, when %s from %s ended in a reset", english.Count(gone, "connection"), v.Worker.Name())
	}), beside(ctx)
}

// aside stops a client at the fault's step, and keeps the others of its process from asking until what was
// asked before is answered, and then until beside is called.
func aside(ctx context.Context, on Strike) (v *Victim, beside func(context.Context) error, err error) {
	if v, err = on.Stop(ctx, nil, on.Step(), Delay); err != nil {
		return nil, nil, err
	}
	if beside, err = on.HoldBeside(ctx, v); err != nil {
		return nil, nil, err
	}
	const onTheWay = 50 * time.Millisecond // answers to what they have asked before
	return v, beside, on.Sleep(ctx, onTheWay)
}

// replyProof says whose answer was lost, and how.
func (w withheld) replyProof(on Strike, v *Victim, how func() string) Proof {
	return func() history.Proof {
		if len(w.answers) == 0 {
			return proven(false, "%s went on from %s, and %s", v.Client, on.Step(), w.none())
		}
		if w.closed {
			return proven(false, "%s went on from %s, and %s", v.Client, on.Step(), hungUp)
		}
		return proven(true, "the lock service answered what %s asked from %s on (%s), %s; the answer %s", v.Client, on.Step(), w.asked(), w.others(), how())
	}
}
