package faults

import (
	"context"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/lab"
)

// lostGrant lets a client's request for the grant reach the lock service while the
// lock is free, and loses the answer: the server grants, and the client never hears of
// it.
func lostGrant() Fault {
	return Fault{Name: "lost-grant", Family: Network, At: AtTakes,
		Also:   []Family{Servers}, // what they acknowledge without an answer would seem to be one
		Doc:    "while the lock is free, one client's request is granted and the answer never arrives",
		Needs:  []Need{AService, Requests, Can(lab.Packets)},
		Inject: withholdGrant}
}

// lateGrant is [lostGrant] for a little more than a lease: TCP sends the answer again,
// and a client that waits so long hears of a grant that is over. What is valid for a
// lease must count from the request, not from the answer.
func lateGrant() Fault {
	f := lostGrant()
	f.Name, f.Doc = "late-grant", "while the lock is free, one client's request is granted and the answer arrives when the lease is over"
	f.Lasts = Length{TTLs: 1.1}
	return f
}

// withholdGrant stops one client before the request, and every other before it asks, so
// that the lock is free and the request will be granted; then it lets that one's
// request pass, but not the answer, and the others go.
func withholdGrant(ctx context.Context, on Strike) (Proof, error) {
	v, err := on.Stop(ctx, nil, on.Step(), Delay)
	if err != nil {
		return nil, err
	}
	others, err := on.HoldOthers(ctx, Fault{At: AtFirst}.Step(on.Setting()), v)
	if err != nil {
		return nil, err
	}
	unanswered, drops, err := withhold(ctx, on, v)
	if err != nil {
		return nil, err
	}
	// The request was answered; until then nobody else has asked.
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
		if unanswered == 0 {
			return proven(false, "%s asked while the lock was free, and the lock service did not answer within half a lease", v.Client)
		}
		then := "nobody else got the lock for half a lease"
		if <-taken { // redlock takes back what it can't be sure of
			then = "the grant was soon taken back: somebody else got the lock within half a lease"
		}
		return proven(true, "%s asked while the lock was free and nobody else did, so it was granted; the answer, %s, did not arrive, for %s (%s)",
			v.Client, packetsOf(unanswered), seconds(drops.Lasted()), then)
	}, nil
}

// packetsOf is a number of packets in words.
func packetsOf(n uint64) string {
	if n == 1 {
		return "1 packet"
	}
	return fmt.Sprintf("%d packets", n)
}

// withhold lets a stopped client go on and keeps from its process what the lock service
// answers. It returns when that has answered, or has not for half a lease. That a server's host
// confirms the request's arrival is no answer.
func withhold(ctx context.Context, on Strike, v *Victim) (packets uint64, drops *Drops, err error) {
	if drops, err = on.Drop(ctx, service(on), []Node{v.Worker}); err != nil {
		return 0, nil, err
	}
	before := drops.Data()
	if err := v.LetGo(ctx); err != nil {
		return 0, nil, err
	}
	const step, moment = 5 * time.Millisecond, 100 * time.Millisecond
	for waited := time.Duration(0); waited < on.TTL()/2 && packets == 0; waited += step {
		if err := on.Sleep(ctx, step); err != nil {
			return 0, nil, err
		}
		if now := drops.Data(); now > before {
			packets = now - before
		}
	}
	return packets, drops, on.Sleep(ctx, moment)
}
