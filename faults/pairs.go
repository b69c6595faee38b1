package faults

import (
	"context"
	"fmt"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/lab"
)

// cutTwoThen is the pair of faults that Redlock is known to fall for. Two of the
// five nodes can't be reached by a client while it takes the lock, so that it holds
// a bare majority; then one node of that majority forgets. With the two, which
// never knew, the others have a majority, too. The holder is let go before its lease
// is over: held for longer, it would overstay, and that is another fault.
//
// MinTTL leaves time, within the lease, for a restart and for the clients to notice
// it: their driver tries a server that refused them once a second.
//
// Sources: M. Kleppmann, "How to do distributed locking" (the clock); the Redlock
// specification, section on crash recovery (the restart).
func cutTwoThen(f Fault, forget func(ctx context.Context, on Stage, server Node) (told func() string, err error)) Fault {
	f.At, f.MinTTL, f.Lasts = whileHolding, promotionTTL, Length{TTLs: 0.75}
	f.Needs, f.Hears = append([]Need{FiveServers, NoCluster, Can(lab.Packets)}, f.Needs...), true
	f.Inject = func(ctx context.Context, on Strike) (Proof, error) {
		w, servers := oneOf(on, on.Workers()), on.Servers()
		link, err := cutOff(ctx, on, []Node{w}, servers[3:])
		if err != nil {
			return nil, err
		}
		ear, err := on.Overhear(ctx, w)
		if err != nil {
			return nil, err
		}
		// Votes of the two that this client got before, and can't give back now, must have
		// run out, or the others would find no majority.
		if err := on.Sleep(ctx, on.TTL()); err != nil {
			return nil, err
		}
		v, err := on.Stop(ctx, w, on.Step(), Delay)
		if err != nil {
			return nil, err
		}
		if err := link.End(ctx); err != nil {
			return nil, err
		}
		told, err := forget(ctx, on, servers[2])
		if err != nil {
			return nil, err
		}
		return func() history.Proof {
			vain, late := sentAgain(ear)
			return proven(vain > 0, "%s between %s and two nodes dropped until %s, and %s; then %s",
				english.Count(link.Packets(), "packet"), w.Name(), on.standing(v), late, told())
		}, nil
	}
	return f
}

// cutTwoRestartEmpty forgets by a crash: the node comes back without its data, perhaps
// after the fault, for it may have to stay down for longer.
func cutTwoRestartEmpty() Fault {
	return cutTwoThen(Fault{Name: "cut-two+restart-empty", Family: Servers, Trouble: history.Failover,
		Doc: "two nodes are cut from a client while it takes the lock, then one of its three crashes and comes back empty"},
		func(ctx context.Context, on Stage, s Node) (func() string, error) {
			if err := on.Kill(ctx, s); err != nil {
				return nil, err
			}
			back := on.Restart(ctx, s, true)
			return func() string {
				down, _ := back(context.WithoutCancel(ctx)) // it is back: that was waited for
				return fmt.Sprintf("%s crashed and was back, empty, after %s", s.Name(), seconds(down))
			}, nil
		})
}

// cutTwoServerClock forgets by time: the node's clock jumps over the lease's end.
func cutTwoServerClock() Fault {
	return cutTwoThen(Fault{Name: "cut-two+server-clock", Family: Clocks, Trouble: history.WrongTime, Also: []Family{Servers}, Needs: []Need{ServerClocks},
		Doc: "two nodes are cut from a client while it takes the lock, then the clock of one of its three jumps"},
		func(ctx context.Context, on Stage, s Node) (func() string, error) {
			moved, err := on.MoveClock(ctx, s, 10*on.TTL(), 0)
			if err != nil {
				return nil, err
			}
			return func() string {
				return fmt.Sprintf("the clock of %s was %s", s.Name(), off(moved.Ahead()))
			}, nil
		})
}
