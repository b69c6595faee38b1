package faults

import (
	"context"
	"fmt"
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/english"
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

// resetGrant loses the answer with its connection: see [resetReply].
func resetGrant() Fault {
	f := lostGrant()
	f.Name, f.Doc = "reset-grant", "while the lock is free, one client's request is granted, and instead of the answer the connections of its host are reset"
	f.Lasts, f.Inject = resetting, resetTheGrant
	return f
}

// withholdGrant lets the request of one client for a lock that is free pass, but not the answer; then the
// others go.
func withholdGrant(ctx context.Context, on Strike) (Proof, error) {
	v, others, err := free(ctx, on)
	if err != nil {
		return nil, err
	}
	w, err := withhold(ctx, on, v, on.Drop, aGrantOf(on))
	if err != nil {
		return nil, err
	}
	// The request was answered; until then nobody else has asked.
	return w.grantProof(ctx, on, v, func() string { return w.keptBack(v) }), others(ctx)
}

// resetTheGrant does the same, and then ends the connections from the servers' side.
func resetTheGrant(ctx context.Context, on Strike) (Proof, error) {
	v, others, err := free(ctx, on)
	if err != nil {
		return nil, err
	}
	w, err := withhold(ctx, on, v, on.Mute, aGrantOf(on))
	if err != nil {
		return nil, err
	}
	gone, err := w.reset(ctx, on, v)
	if err != nil {
		return nil, err
	}
	return w.grantProof(ctx, on, v, func() string {
		return fmt.Sprintf("was lost with its connection, when %s from %s ended in a reset", english.Count(gone, "connection"), v.Worker.Name())
	}), others(ctx)
}

// free stops one client before the request that takes the lock, and all others before they ask for it. These
// come first, while the one goes on: it stands for no longer than its connection, or its patience, lasts.
// The lock has been granted before: the first requests for one may find that what it is made of is not there yet.
func free(ctx context.Context, on Strike) (v *Victim, others func(context.Context) error, err error) {
	if err := aGrant(ctx, on); err != nil {
		return nil, nil, err
	}
	all, err := on.Clients(ctx)
	if err != nil {
		return nil, nil, err
	}
	one := all[on.Rand().IntN(len(all))]
	if others, err = on.HoldOthers(ctx, lb.StepAcquiring, &Victim{Worker: one.Worker, Client: one.Name}); err != nil {
		return nil, nil, err
	}
	v, err = on.Stop(ctx, one.Worker, on.Step(), Delay)
	return v, others, err
}

// votesOn reports whether each server grants its own, and a majority makes the grant.
func votesOn(on Strike) bool {
	t := on.Setting().Topology
	return t.Servers > 1 && !t.Leads()
}

// aGrantOf reports whether what was withheld makes a grant: any answer, or those of a majority, which a
// client may ask for one after the other.
func aGrantOf(on Strike) func(withheld) bool {
	if s := on.Setting(); votesOn(on) {
		return func(w withheld) bool { return 2*w.granted(s.Algorithm.Takes) > s.Topology.Servers }
	}
	return withheld.any
}

// grantProof says whose grant was lost, how, and what others made of it. It begins to look at once.
func (w withheld) grantProof(ctx context.Context, on Strike, v *Victim, how func() string) Proof {
	taken := make(chan bool, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), on.TTL()/2)
		defer cancel()
		taken <- on.Passed(ctx, whileBeginning, nil, v.Worker) == nil
	}()
	votes, majority := votesOn(on), aGrantOf(on)
	return func() history.Proof {
		switch {
		case len(w.answers) == 0:
			return proven(false, "%s asked while the lock was free, and %s", v.Client, w.none())
		case w.closed:
			return proven(false, "%s asked while the lock was free, and %s", v.Client, hungUp)
		case votes && !majority(w):
			return proven(false, "%s asked while the lock was free, and the answers to its %s that were lost are of no majority of %d servers", v.Client, w.asked(), on.Setting().Topology.Servers)
		case !votes && !slices.ContainsFunc(w.answers, func(m wire.Message) bool { return !m.Failed }):
			return proven(false, "%s asked while the lock was free, and the answer to its %s granted nothing", v.Client, w.asked())
		}
		then := "no client of another process was seen to get it within half a lease"
		if <-taken { // redlock takes back what it can't be sure of
			then = "a client of another process got it within half a lease"
		}
		granted := ", so it was granted"
		if votes {
			granted = ""
		}
		return proven(true, "%s asked while the lock was free and nobody else did%s; the answer to its %s %s (%s)",
			v.Client, granted, w.asked(), how(), then)
	}
}
