package checker

import (
	"cmp"
	"slices"

	"github.com/lockbench/lockbench"
)

// countSections counts the acquisitions that were granted and whose holder came to
// the end of its work: a release of it returned.
func (r *run) countSections() int {
	n := 0
	for _, a := range r.acqs {
		for _, rel := range a.releases {
			if a.granted() && rel.ret < Forever {
				n++
				break
			}
		}
	}
	return n
}

// countContended counts the acquires that ran while another client held the lock.
func (r *run) countContended() int {
	n := 0
	beliefs := r.beliefsByLock()
	for i, acqs := range r.perLock(func(a *acquisition) bool { return a.asked > 0 }) {
		longest := longestBefore(beliefs[i])
		for _, a := range acqs {
			k := begunBefore(beliefs[i], min(a.ret, a.dead, max(r.last, a.call)))
			if k > 0 && longest[k-1].to(a.owner()) > a.call {
				n++
			}
		}
	}
	return n
}

// lasting is, among some beliefs, the one that lasts longest, and the one of
// another owner that does.
type lasting struct {
	owner       string
	first, next lockbench.Instant
}

// to is the latest end of a belief of anybody but owner.
func (l lasting) to(owner string) lockbench.Instant {
	if l.owner == owner {
		return l.next
	}
	return l.first
}

// longestBefore gives for each prefix of the beliefs which last longest.
func longestBefore(hs []held) []lasting {
	out := make([]lasting, len(hs))
	var l lasting
	for i, h := range hs {
		owner := h.acq.owner()
		switch {
		case owner == l.owner || l.owner == "":
			l.owner, l.first = owner, max(l.first, h.to)
		case h.span.to > l.first:
			l = lasting{owner, h.span.to, l.first}
		default:
			l.next = max(l.next, h.to)
		}
		out[i] = l
	}
	return out
}

// begunBefore counts the beliefs that began before t.
func begunBefore(hs []held, t lockbench.Instant) int {
	n, _ := slices.BinarySearchFunc(hs, t, func(h held, t lockbench.Instant) int { return cmp.Compare(h.from, t) })
	return n
}
