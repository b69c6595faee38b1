package faults

import (
	"context"
	"time"

	"github.com/lockbench/lockbench/lab"
)

// idleHolder is a holder that says nothing to the servers for longer than they keep a silent
// connection, which is the first that a slow piece of work does. The limit is set before it
// asks for the lock, as MariaDB's holds for connections that come after it. One whose lock says
// something all the while can't be struck, and that is shown by its connections.
func idleHolder() Fault {
	return Fault{Name: "idle-holder", Family: Servers, At: whileHolding, Lasts: withinLease,
		MinTTL: 6 * time.Second, // the servers count whole seconds: half a lease must be more than two
		Doc:    "the servers close connections that are idle for a second (CONFIG SET timeout, wait_timeout, idle_session_timeout), that of a holder at work among them",
		Needs:  []Need{Knows(lab.IdleTimeout), Requests},
		Inject: func(ctx context.Context, on Strike) (Proof, error) {
			asking, others, err := gathered(ctx, on)
			if err != nil {
				return nil, err
			}
			did, err := operate(ctx, on, lab.IdleTimeout, asking.Worker)
			if err != nil {
				return nil, err
			}
			v, err := holds(ctx, on, asking)
			if err != nil {
				return nil, err
			}
			return did.proof("while " + v.Client + " stood at " + on.Step()), others(ctx)
		}}
}
