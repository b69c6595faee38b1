// Package kubernetes holds the lock of Kubernetes: the leader election of its own client library.
package kubernetes

import (
	"time"

	lb "github.com/lockbench/lockbench"
)

// Lease is leader election by client-go, as operators use it: whoever leads holds the lock, and cancels to give it back.
//
//	get the Lease                                      who holds it?
//	update it with its name and a version that it has read, or make it
//	  if nobody holds it, or it has seen no change of it for a lease, by its own monotonic clock
//	update it again every RetryPeriod; stop leading if none has succeeded for RenewDeadline
//	get the Lease, and update it with no holder        to give it back (ReleaseOnCancel)
//
// No server ends a Lease: those who wait do, each by its own clock. The library gives no end of the lease and no token, and
// "does not guarantee that only one client is acting as a leader (a.k.a. fencing)": leaseTransitions, which its record has, it
// tells nobody. Its holder is told by a context, and asks nobody before it writes.
//
// The lease is a whole number of seconds, and the other times have the ratio to it of the library's defaults, 15 s, 10 s and 2 s.
func Lease() lb.Impl { return lease{} }

type lease struct{}

const source = "k8s.io/client-go v0.37.2, tools/leaderelection"

func (lease) Info() lb.Info {
	return lb.Info{
		Name:       "kubernetes-lease",
		Doc:        "leader election of client-go on a Lease, with ReleaseOnCancel",
		Source:     source,
		Topologies: []string{"kubernetes", "kubernetes-3"},
		Requests:   []string{"get", "acquire", "renew", "release"},
		Reads:      []string{"get"},
		Takes:      "acquire",
		NoTry:      true,
		MinTTL:     2 * time.Second, // whoever waits looks every third of it or sooner, and counts from when it has seen the last change
		OwnClock:   true,
		Traits:     lb.Traits{Renewing: true, LostNotice: true},
		Expect:     expect(),
	}
}
