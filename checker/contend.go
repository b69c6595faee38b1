package checker

import (
	"cmp"
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// countSections counts the acquisitions that were granted and whose holder did its work:
// the store has decided on a write of it, or on a read that it relies on. Where the work is not in the store, a release
// of it has returned.
func (r *run) countSections() int {
	n := 0
	if slices.Contains(r.plan.Evidence, LayerStore) {
		wrote := map[int32]bool{}
		for i := range r.Accesses {
			if e := &r.Accesses[i]; (e.Write || e.Confirms()) && r.Acqs[e.Acq].Granted() {
				wrote[e.Acq] = true
			}
		}
		return len(wrote)
	}
	for i := range r.Acqs {
		a := &r.Acqs[i]
		if !a.Granted() {
			continue
		}
		for rel := range r.Releases(a) {
			if rel.Return < Forever {
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
	for lock, acqs := range r.ByLock() {
		beliefs := r.beliefs[lock]
		if r.plan.Traits.Semaphore() {
			n += r.countFull(acqs, beliefs)
			continue
		}
		longest := r.longestBefore(beliefs)
		for _, i := range acqs {
			a := &r.Acqs[i]
			if !a.Asked {
				continue
			}
			k := begunBefore(beliefs, r.Waited(i))
			if k > 0 && longest[k-1].to(a.Client) > a.Call {
				n++
			}
		}
	}
	return n
}

// countFull counts the acquires of a semaphore that ran while as many relied on it as it has permits.
func (r *run) countFull(acqs []int32, beliefs []held) (n int) {
	var spans []span
	for _, b := range beliefs {
		spans = append(spans, b.span)
	}
	full := history.Crowded(spans, r.plan.Traits.AtOnce())
	for _, i := range acqs {
		a := &r.Acqs[i]
		k, _ := slices.BinarySearchFunc(full, a.Call, func(s span, t lb.Instant) int { return cmp.Compare(s.To, t) })
		if a.Asked && k < len(full) && full[k].Overlaps(span{From: a.Call, To: r.Waited(i)}) {
			n++
		}
	}
	return n
}

// lasting is, among some beliefs, the end of the one that lasts longest, and of the
// one of another client that does.
type lasting struct {
	client      int32
	first, next lb.Instant
}

// to is the latest end of a belief of anybody but client.
func (l lasting) to(client int32) lb.Instant {
	if l.client == client {
		return l.next
	}
	return l.first
}

// longestBefore gives for each prefix of the beliefs which last longest.
func (r *run) longestBefore(hs []held) []lasting {
	out := make([]lasting, len(hs))
	l := lasting{client: none}
	for i, h := range hs {
		switch client := r.Acqs[h.acq].Client; {
		case client == l.client || l.client == none:
			l.client, l.first = client, max(l.first, h.To)
		case h.To > l.first:
			l = lasting{client, h.To, l.first}
		default:
			l.next = max(l.next, h.To)
		}
		out[i] = l
	}
	return out
}

// begunBefore counts the beliefs that began before t.
func begunBefore(hs []held, t lb.Instant) int {
	n, _ := slices.BinarySearchFunc(hs, t, func(h held, t lb.Instant) int { return cmp.Compare(h.From, t) })
	return n
}
