package checker

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lockbench/lockbench/internal/english"
)

// judgeToken asks whether each token was given once, and a later grant always
// got a greater one. A grant is later if it was asked for after the other had
// been returned; the order of overlapping requests is not known. Of a semaphore only the first is asked: of its holders the one
// with the lowest token may be in the right, and no order tells who is not.
func judgeToken(r *run) Layer {
	var f findings
	tokens, grants := 0, 0
	for _, acqs := range r.ByLock() {
		all := r.granted(acqs)
		// Who only shares may have none: it has nothing to fence.
		all = slices.DeleteFunc(all, func(a *acquisition) bool { return a.Token == 0 && a.Shared })
		bearing := slices.DeleteFunc(slices.Clone(all), func(a *acquisition) bool { return a.Token == 0 })
		grants, tokens = grants+len(all), tokens+len(bearing)
		if n := len(all) - len(bearing); n > 0 && (len(bearing) > 0 || r.plan.Traits.Fenced) {
			f.add(func() Finding {
				return Finding{Lock: r.Locks[all[0].Lock], At: r.Start, From: r.Start, To: r.Last,
					Sentence: fmt.Sprintf("%s of %s came without a token, %d with one", english.Count(n, "grant"), r.theLock(all[0]), len(bearing))}
			})
		}
		r.checkTokens(&f, bearing)
	}
	switch {
	case tokens == 0 && !r.plan.Traits.Fenced:
		return Layer{Verdict: Vacuous, Summary: "no tokens"}
	case grants == 0:
		return Layer{Verdict: Vacuous, Summary: "nothing was granted"}
	case f.count == 0:
		return f.layer(Valid, "%s, none out of order or repeated", english.Count(tokens, "token"))
	}
	return f.layer(Invalid, "%s, %s out of order, repeated or missing", english.Count(tokens, "token"), english.Count(f.count, "case"))
}

// checkTokens sweeps over the grants of one lock in the order of their calls; before
// each, the grants that had returned by then have been taken in: in the same instant
// only those of the same client, who does one thing after the other.
func (r *run) checkTokens(f *findings, acqs []*acquisition) {
	returned := slices.Clone(acqs)
	slices.SortStableFunc(returned, func(a, b *acquisition) int { return cmp.Compare(a.Return, b.Return) })
	slices.SortFunc(acqs, func(a, b *acquisition) int {
		return cmp.Or(cmp.Compare(a.Call, b.Call), cmp.Compare(a.Order, b.Order))
	})
	seen, own := map[uint64]*bearers{}, map[int32]*acquisition{}
	var highest *acquisition
	for _, a := range acqs {
		for ; len(returned) > 0 && returned[0].Return < a.Call; returned = returned[1:] {
			highest = higher(highest, returned[0])
		}
		before := higher(highest, own[a.Client])
		own[a.Client] = higher(own[a.Client], a)
		same := seen[a.Token]
		if same == nil {
			seen[a.Token] = &bearers{last: a, longest: a, shared: a.Shared}
		} else if last := same.last; !r.join(same, a) {
			f.add(func() Finding { return r.tokenFinding("the same", last, a) })
			continue
		}
		if before != nil && a.Token < before.Token && !r.plan.Traits.Semaphore() {
			f.add(func() Finding { return r.tokenFinding("a lower", before, a) })
		}
	}
}

// higher is the one with the higher token. Either may be nil.
func higher(a, b *acquisition) *acquisition {
	if a == nil || b != nil && b.Token > a.Token {
		return b
	}
	return a
}

// bearers are the grants that carry one token.
type bearers struct {
	last, longest *acquisition // longest may have been held for longest
	shared        bool         // all of them
	mixed         bool         // of more than one client
}

// join adds a grant with the same token and reports whether that is right: all are
// shared, or all are one client's that re-entered.
func (r *run) join(b *bearers, a *acquisition) bool {
	b.shared = b.shared && a.Shared
	b.mixed = b.mixed || a.Client != b.last.Client
	right := b.shared || r.plan.Traits.Reentrant && !b.mixed && r.mayBeHeld(b.longest, a)
	if b.last = a; r.GivenBack(a) >= r.GivenBack(b.longest) {
		b.longest = a
	}
	return right
}

// mayBeHeld reports whether a may still have been held when its client asked for b: no
// release had returned by then that ended it.
func (r *run) mayBeHeld(a, b *acquisition) bool {
	for rel := range r.Releases(a) {
		ended := rel.Result == OK || rel.Result == Lost || rel.Result == Released
		if ended && (rel.Return < b.Call || rel.Client == b.Client && rel.Order < b.Order) {
			return false
		}
	}
	return true
}

func (r *run) tokenFinding(what string, before, after *acquisition) Finding {
	f := r.finding(before, after)
	f.At, f.From, f.To = after.Return, before.Call, after.Return
	f.Sentence = fmt.Sprintf("%s was granted %s with token %d at %s, and %s with %s token %d at %s",
		r.who(before), r.theLock(before), before.Token, r.sec(before.Return),
		r.who(after), what, after.Token, r.sec(after.Return))
	return f
}
