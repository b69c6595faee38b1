package checker

import (
	"fmt"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/english"
)

// toldSlack is how much later than its TTL a holder may learn that its lock is gone:
// scheduling, and the clock of a session that counts whole seconds.
const toldSlack = 2 * time.Second

// judgeTold asks whether holders were told that they lost their lock. One whose lock was
// granted to somebody else must hear of it while it relies on it, within its TTL and
// toldSlack, of the time that its process ran. Where the two asked at the same time,
// nobody can tell which of them lost the lock, and either may be the one that hears of it.
func judgeTold(r *run) Layer {
	if r.Error > 0 { // which grant took the lock from whom is not known then
		return Layer{Verdict: Vacuous, Summary: "not judged where clocks err"}
	}
	if r.plan.Traits.Semaphore() {
		return Layer{Verdict: Vacuous, Summary: "not judged of a semaphore: which of its holders lost a permit to one grant too many, nobody can tell"}
	}
	limit := lb.Instant(r.plan.TTL + toldSlack)
	var f findings
	lost := 0
	for lock := range r.beliefs {
		hs := r.beliefs[lock]
		var open []held // beliefs that go on
		for _, h := range hs {
			b := &r.Acqs[h.acq]
			some := open[:0]
			for _, o := range open {
				if o.To > h.From {
					some = append(some, o)
				}
			}
			open = some
			if h.From != b.Return { // a renewal is no grant
				open = append(open, h)
				continue
			}
			kept := open[:0]
			for _, o := range open {
				a := &r.Acqs[o.acq]
				if a.Client == b.Client || a.Shared && b.Shared {
					kept = append(kept, o)
					continue
				}
				lost++
				wait := r.ran(a.Client, span{From: b.Return, To: min(o.To, r.End)})
				if b.Call <= a.Return && r.ran(b.Client, span{From: b.Return, To: min(h.To, r.End)}) <= limit {
					continue
				}
				if wait > limit {
					f.add(func() Finding { return r.toldFinding(a, b, wait) })
				}
			}
			open = append(kept, h)
		}
	}
	switch {
	case lost == 0:
		return Layer{Verdict: Vacuous, Summary: "nobody lost a lock that it relied on"}
	case f.count == 0:
		return f.layer(Valid, "%s of a lock that somebody relied on, and never did both go on for more than %v", english.Count(lost, "grant"), time.Duration(limit))
	}
	return f.layer(Invalid, "%s", f.list[0].Sentence)
}

// ran is for how much of s the process of a client ran.
func (r *run) ran(client int32, s span) lb.Instant {
	return max(0, s.To-s.From) - history.Length(history.Union(r.SilentIn(client, s)), s)
}

func (r *run) toldFinding(a, b *acquisition, wait lb.Instant) Finding {
	f := r.finding(a, b)
	f.At, f.From, f.To = b.Return+lb.Instant(r.plan.TTL+toldSlack), a.Call, b.Return+wait
	f.Sentence = fmt.Sprintf("%s was granted %s at %s, and %s, who relied on it, had not been told %s later",
		r.who(b), r.theLock(b), r.sec(b.Return), r.who(a), seconds(time.Duration(wait)))
	return f
}
