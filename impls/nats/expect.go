package nats

import (
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
)

const (
	store       = `docs.nats.io, "Key/Value Store"`
	consistency = `docs.nats.io, "JetStream", "Consistency": its formal model is linearizable`
	disk        = `docs.nats.io, "JetStream", "Syncing data to disk"`
	expiry      = "nats-server, filestore.go, resetAgeChk and expireMsgs"
)

// lease is what the lock is good for whose key ends by itself and is not renewed.
func lease() []lb.Expectation {
	return onNATS(compose.FencedLease(), lb.Fence,
		lb.Expectation{Fault: "client-clock:drift", Outcomes: []lb.Outcome{lb.Fence}, Reason: lb.DoubleGrant,
			Why: "the holder measures its lease by a clock that is slow, and works on when the server has ended the key", Source: compose.Kleppmann})
}

// renewed is that of one that is.
func renewed() []lb.Expectation {
	return onNATS(compose.RenewedOnWallClock(compose.FencedLease()), lb.Fence,
		compose.Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Fence, lb.Check, lb.Safe},
			Why: "the server ends the key too early if it looks before the next renewal comes, which has the new time; who is refused then is told", Source: expiry}, "server-clock", "server-clock:drift")...)
}

// anyDelete is that of one whose release looks at no revision, and whose revision nobody keeps.
func anyDelete() []lb.Expectation {
	const doc = "nats.go, jetstream.KeyValue, Delete"
	all := compose.PlainDelete(onNATS(compose.Lease(), lb.Broken), "delete", doc)
	return compose.Except(all, slices.Concat(
		compose.Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant,
			Why: "the holder stands still until its lease is over, if the server's clock has not ended it before, and its late delete frees the lock of the next one", Source: doc},
			"server-clock", "server-clock:drift", "server-clock:back", "client-clock:drift"),
		compose.Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Safe, lb.Check, lb.Broken},
			Why: "a delete that was sent before its server went is sent again, or arrives late, and frees the lock of whoever has it by then", Source: doc}, endingServers...))...)
}

// endingServers are the faults that take a server, or the one that leads, away for a while.
var endingServers = []string{"restart-server", "kill-server", "kill-leader", "cut-leader", "pause-leader", "deaf-leader", "cut-halves", "failover",
	"failover-by-command", "rolling-restart", "kill-two"}

// onNATS are the expectations of a lease whose grants are keys in a bucket: worst is what becomes of one whose key
// ends under its holder.
func onNATS(base []lb.Expectation, worst lb.Outcome, own ...lb.Expectation) []lb.Expectation {
	empty := compose.Forgotten()
	empty.Outcomes = append(empty.Outcomes, lb.Stuck)
	empty.Why = "the server comes back without the grant, its tokens and the bucket, which a client makes when it connects for the first time; whether one does, and whether the holder hears of it before somebody else is granted the lock, is chance"
	return compose.Except(compose.Except(base, slices.Concat(
		compose.Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Safe, lb.Check},
			Why: "what is confirmed is known to a majority, and so to every later leader, and is in the hands of the kernel when a server is killed; a holder whose lease ends meanwhile can see that", Source: consistency}, endingServers...),
		compose.Under(lb.Expectation{Outcomes: []lb.Outcome{worst, lb.Check},
			Why: "a key ends by the server's wall clock, at which it looks when, by the clock that nobody sets, the key that ends first is due: one of those before, perhaps, or this one", Source: expiry}, "server-clock", "server-clock:drift"),
		[]lb.Expectation{
			{Fault: "server-clock:back", Outcomes: []lb.Outcome{worst, lb.Check, lb.Safe},
				Why: "a key that was made meanwhile ends at once when the clock is put right and the server looks: whether somebody holds the lock by then is chance", Source: expiry},
			{Fault: "reconnect-storm", Outcomes: []lb.Outcome{lb.Safe}, Why: "the grant is a key and not a connection; its holder connects again", Source: store},
			{Fault: "flushall", Outcomes: []lb.Outcome{worst}, Reason: lb.DoubleGrant,
				Why: "a stream that is purged forgets the grant, and not the number of its last message, so that tokens count on", Source: `docs.nats.io, "nats stream purge"`},
			empty,
		})...), own...)
}
