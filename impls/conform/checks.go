package conform

import (
	"context"
	"time"

	lb "github.com/lockbench/lockbench"
)

// check is one claim, as a function that says how it was found to be false.
type check struct {
	name string
	ttl  func(*Suite) time.Duration
	run  func(context.Context, *bench) error
}

func short(s *Suite) time.Duration { return s.TTL }
func long(s *Suite) time.Duration  { return max(s.lasting, s.TTL) }

// checks are those that apply to an algorithm of these traits.
func checks(tr lb.Traits) []check {
	all := []check{
		{"exclusion", long, exclusion},
		{"hundred-locks", long, hundredLocks},
		{"wait", long, waiting},
		{"deadline", long, deadline},
		{"cancel", long, canceled},
		{"try", long, trying},
		{"foreign-release", long, foreignRelease},
		{"second-release", long, secondRelease},
		{"release-answer", long, releaseAnswer},
		{"release-again", long, releaseAgain},
		{"crash", short, vanished((*party).crash)},
		{"hang", short, vanished((*party).hang)},
		{"any-name", long, anyName},
		{"server-refuses", short, serverRefuses},
		{"server-hangs", short, serverHangs},
		{"server-hangs-later", short, serverHangsLater},
		{"round-trips", long, roundTrips},
		{"bound", long, declaredBound},
		{"token", long, tokens},
		{"valid", short, validity},
		{"reentrant", long, pick(tr.Reentrant, reentrant, notReentrant)},
		{"shared", long, pick(tr.Shared, shared, notShared)},
	}
	if tr.Fair {
		all = append(all, check{"fair", long, fair}, check{"dead-waiter", short, deadWaiter})
	}
	if tr.Semaphore() {
		all = append(all, check{"permits", long, permits})
	}
	if tr.Push {
		all = append(all, check{"push", long, push})
	}
	switch {
	case tr.Renewing:
		all = append(all, check{"renewal", short, renewal})
	case tr.Leased:
		all = append(all, check{"expiry", short, leaseEnds})
	}
	if tr.LostNotice {
		all = append(all, check{"lost-notice", short, lostNotice})
	}
	return append(all, requestChecks(tr)...)
}

// requestChecks are those that ask what goes over the wire, and not whether the lock
// is one.
func requestChecks(tr lb.Traits) []check {
	all := []check{
		{"requests", long, requestsAlone},
		{"requests-in-line", long, requestsInLine},
		{"requests-clean-up", long, requestsCleanUp},
		{"requests-first", long, requestsFirst},
		{"session", long, session},
	}
	if tr.Renewing || !tr.Leased { // else nothing is sent, and the lock ends
		all = append(all, check{"requests-renewal", short, requestsRenewed})
	}
	return all
}

func pick[T any](claimed bool, yes, no T) T {
	if claimed {
		return yes
	}
	return no
}
