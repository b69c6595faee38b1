package faults

import (
	"context"
	"time"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/lab"
)

// loseReply lets a client's request for the grant reach the lock service while the
// lock is free, and loses the answer: the server grants, and the client never hears of
// it.
func loseReply() Fault {
	return Fault{Name: "lose-reply", Family: Network, At: AtTakes,
		Doc:    "while the lock is free, one client's request is granted and the answer never arrives",
		Needs:  []Need{AService, Requests, Can(lab.Packets)},
		Inject: withhold}
}

// slowReply is [loseReply] for less than a lease: TCP sends the answer again, and
// the client hears late of what it was granted.
func slowReply() Fault {
	f := loseReply()
	f.Name, f.Doc = "slow-reply", "while the lock is free, one client's request is granted and the answer arrives late, after most of a lease or a little more than one"
	f.Lasts = Length{TTLs: 0.7}
	return f
}

// withhold stops one client before the request, and every other before it asks, so
// that the lock is free and the request will be granted; then it lets that one's
// request pass, but not the answer, and the others go.
func withhold(ctx context.Context, on Strike) (Proof, error) {
	v, err := on.Stop(ctx, nil, on.Step(), Delay)
	if err != nil {
		return nil, err
	}
	others, err := on.HoldOthers(ctx, Fault{At: AtFirst}.Step(on.Setting()), v)
	if err != nil {
		return nil, err
	}
	drops, err := on.Drop(ctx, service(on), []Node{v.Worker})
	if err != nil {
		return nil, err
	}
	if err := v.LetGo(ctx); err != nil {
		return nil, err
	}
	// The request is on its way; nobody else is asking before it is answered.
	unanswered, err := answered(ctx, on, drops)
	if err != nil {
		return nil, err
	}
	if err := others(ctx); err != nil {
		return nil, err
	}
	taken := make(chan bool, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), on.TTL()/2)
		defer cancel()
		taken <- on.Passed(ctx, whileBeginning, nil, v.Worker) == nil
	}()
	return func() history.Proof {
		then := "nobody else got the lock for half a lease"
		if <-taken { // redlock takes back what it can't be sure of
			then = "the grant was soon taken back: somebody else got the lock within half a lease"
		}
		return proven(unanswered > 0, "%s asked while the lock was free and nobody else did, so it was granted; the answer, %d packets, did not arrive (%s)",
			v.Client, unanswered, then)
	}, nil
}

// answered waits until the service has answered what is on its way, and a moment more.
func answered(ctx context.Context, on Strike, drops *Drops) (packets uint64, err error) {
	const step, moment = 5 * time.Millisecond, 100 * time.Millisecond
	for waited := time.Duration(0); waited < on.TTL()/2 && packets == 0; waited += step {
		if err := on.Sleep(ctx, step); err != nil {
			return 0, err
		}
		packets = drops.Packets()
	}
	return packets, on.Sleep(ctx, moment)
}
