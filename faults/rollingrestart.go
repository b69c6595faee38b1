package faults

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/lockbench/lockbench/history"
)

// rollingRestart is how an ensemble gets a new version: one member after the other is shut
// down in good order, and the next when it is back. Each time another client holds the
// lock, and keeps it until the member is back, or for half a lease.
func rollingRestart() Fault {
	return Fault{Name: "rolling-restart", Family: Servers, At: whileHolding, Trouble: history.Failover,
		Doc:   "every server is shut down and started again with its disk, one after the other, each while a client holds the lock",
		Needs: []Need{SeveralServers}, MinTTL: promotionTTL, Takes: time.Minute, Lasts: Length{Time: time.Second},
		Inject: func(ctx context.Context, on Strike) (Proof, error) {
			var told []string
			for _, s := range on.Servers() {
				v, err := on.Stop(ctx, nil, on.Step(), Delay)
				if err != nil {
					return nil, err
				}
				if err := on.ShutDown(ctx, s); err != nil {
					return nil, err
				}
				back := on.Restart(ctx, s, false)
				within, cancel := context.WithTimeout(ctx, withinLease.Of(on.TTL()))
				_, _ = back(within) // if it is not, the holder does not wait for it
				cancel()
				if err := v.LetGo(ctx); err != nil {
					return nil, err
				}
				down, err := back(ctx)
				if err != nil {
					return nil, err
				}
				told = append(told, fmt.Sprintf("%s went while %s, and was back after %s", s.Name(), on.standing(v), seconds(down)))
			}
			return func() history.Proof { return proven(true, "%s", strings.Join(told, "; ")) }, nil
		}}
}
