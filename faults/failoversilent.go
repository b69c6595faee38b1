package faults

import (
	"context"
	"errors"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/lab"
)

// failoverSilent is [failover] as by a machine that loses power. When a process is killed, its kernel tells
// the other ends of its connections; here nobody hears of it, and a client that waits for an answer waits
// until its own patience is over.
func failoverSilent() Fault {
	return Fault{Name: "failover-silent", Family: Servers, Also: []Family{Network}, At: whileHolding, Trouble: history.Failover,
		Doc:   "SIGKILL the leader while a client holds the lock, and nobody hears that its connections have ended, as when its machine loses power; another takes over",
		Needs: []Need{ALeader, Can(lab.Packets)}, MinTTL: promotionTTL, Lasts: Length{TTLs: 1.25},
		Inject: func(ctx context.Context, on Strike) (Proof, error) {
			leader, v, err := heldLeader(ctx, on)
			if err != nil {
				return nil, err
			}
			dying, err := silence(ctx, on, leader)
			if err != nil {
				return nil, err
			}
			before := dying.Packets()
			led, err := takeOver(ctx, on, leader, v)
			if err != nil {
				return nil, err
			}
			// Again, since an address may belong to the next leader by now; and what is done after the kill is undone
			// before the server starts again, which must find its peers.
			dead, err := silence(ctx, on, leader)
			if err != nil {
				return nil, err
			}
			return func() history.Proof {
				p, unheard := led(), dying.Packets()-before+dead.Packets()
				return proven(p.Proven && unheard > 0, "%s; all that its machine sent from just before that on was dropped: %s",
					p.Measured, english.Count(unheard, "packet"))
			}, dying.End(ctx)
		}}
}

// silence drops what a server and everybody else say to each other. The packets are those that it sends.
func silence(ctx context.Context, on Strike, server Node) (*Drops, error) {
	everybody := append(others(service(on), server), on.Workers()...)
	to, err := on.Drop(ctx, everybody, []Node{server})
	if err != nil {
		return nil, err
	}
	from, err := on.Drop(ctx, []Node{server}, everybody)
	if err != nil {
		return nil, err
	}
	end := from.End
	from.End = func(ctx context.Context) error { return errors.Join(to.End(ctx), end(ctx)) }
	return from, nil
}
