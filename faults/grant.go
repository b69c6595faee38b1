package faults

import (
	"context"
	"slices"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/wire"
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
		Hears:  true,
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
	w, err := withhold(ctx, on, v, on.Drop)
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
		switch {
		case len(w.answers) == 0:
			return proven(false, "%s asked while the lock was free, and %s", v.Client, w.none())
		case !slices.ContainsFunc(w.answers, func(m wire.Message) bool { return !m.Failed }):
			return proven(false, "%s asked while the lock was free, and was refused: no grant was lost", v.Client)
		}
		then := "nobody else got the lock for half a lease"
		if <-taken { // redlock takes back what it can't be sure of
			then = "somebody else got the lock within half a lease"
		}
		return proven(true, "%s asked while the lock was free and nobody else did, so it was granted; the answer to its %s did not arrive, for %s (%s)",
			v.Client, w.asked(), seconds(w.drops.Lasted()), then)
	}, nil
}
