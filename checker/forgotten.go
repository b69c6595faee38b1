package checker

import (
	"fmt"
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/english"
)

// passedBy is how often, for each client, others must be granted a lock that one waits for, who have
// asked for it since that one last stirred. By chance it would have had its turn.
const passedBy = 20

// forgotten says who waits for an answer that does not come: to the end of a run in which nothing went
// wrong, while others are granted the same lock again and again. So it is with one whose place in a
// queue is gone, or whose transaction was chosen to end a deadlock, and who is not told. A lock
// that asks again by itself can't be forgotten. Of all it tells of the first, or "".
func (r *run) forgotten() string {
	if !r.plan.Traits.Push || slices.ContainsFunc(r.Faults, func(f history.Fault) bool { return f.Struck }) {
		return ""
	}
	for _, acqs := range r.ByLock() {
		grants := r.granted(acqs)
		for _, i := range acqs {
			a := &r.Acqs[i]
			if !a.Asked || a.Return < r.End || r.Waited(i) < r.End {
				continue
			}
			since := max(a.Call, r.Clients[a.Client].Woken)
			passed := 0
			for _, b := range grants {
				if !b.Shared && b.Client != a.Client && b.Call > since+2*r.Error && b.Return < r.End {
					passed++
				}
			}
			if passed > passedBy*len(r.Clients) && len(r.SilentIn(a.Client, span{From: a.Call, To: r.End})) == 0 {
				return r.forgottenTold(a, since, passed)
			}
		}
	}
	return ""
}

func (r *run) forgottenTold(a *acquisition, since lb.Instant, passed int) string {
	stirred := ""
	if since > a.Call {
		stirred = fmt.Sprintf(", and last woke at %s", r.sec(since))
	}
	return fmt.Sprintf("%s asked for %s at %s%s, and had no answer by the end, at %s, while others who asked later were granted it %s",
		r.who(a), r.theLock(a), r.sec(a.Call), stirred, r.sec(r.End), english.Count(passed, "time"))
}
