package checker

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lockbench/lockbench"
)

// judgeToken asks whether each token was given once, and a later grant always
// got a greater one. A grant is later if it was asked for after the other had
// been returned; the order of overlapping requests is not known.
func judgeToken(r *run) lockbench.Layer {
	var f findings
	tokens, missing := 0, 0
	for _, acqs := range r.ByLock() {
		grants := r.granted(acqs)
		for _, a := range grants {
			if a.Token > 0 {
				tokens++
			} else {
				missing++
			}
		}
		r.checkTokens(&f, slices.DeleteFunc(grants, func(a *acquisition) bool { return a.Token == 0 }))
	}
	switch {
	case tokens == 0 && !r.plan.Traits.Fenced:
		return lockbench.Layer{Verdict: lockbench.Vacuous, Summary: "no tokens"}
	case tokens+missing == 0:
		return lockbench.Layer{Verdict: lockbench.Vacuous, Summary: "nothing was granted"}
	case missing > 0:
		f.add(func() lockbench.Finding {
			return lockbench.Finding{At: r.Start, From: r.Start, To: r.Last,
				Sentence: fmt.Sprintf("%s came without a token, %d with one", count(missing, "grant"), tokens)}
		})
	case f.count == 0:
		return f.layer(lockbench.Valid, "%s, each greater than all before", count(tokens, "token"))
	}
	return f.layer(lockbench.Invalid, "%s, %s out of order, repeated or missing", count(tokens, "token"), count(f.count, "case"))
}

// checkTokens sweeps over the grants of one lock in the order of their calls; before
// each, the grants that had returned by then have been taken in.
func (r *run) checkTokens(f *findings, acqs []*acquisition) {
	returned := slices.Clone(acqs)
	slices.SortStableFunc(returned, func(a, b *acquisition) int { return cmp.Compare(a.Return, b.Return) })
	slices.SortStableFunc(acqs, func(a, b *acquisition) int { return cmp.Compare(a.Call, b.Call) })
	seen := map[uint64]*bearers{}
	var highest *acquisition
	for _, a := range acqs {
		for ; len(returned) > 0 && returned[0].Return < a.Call; returned = returned[1:] {
			if highest == nil || returned[0].Token > highest.Token {
				highest = returned[0]
			}
		}
		same := seen[a.Token]
		if same == nil {
			seen[a.Token] = &bearers{last: a, shared: a.Shared, held: r.GivenBack(a)}
		} else if before := same.last; !r.join(same, a) {
			f.add(func() lockbench.Finding { return r.tokenFinding("the same", before, a) })
			continue
		}
		if highest != nil && a.Token < highest.Token {
			higher := highest
			f.add(func() lockbench.Finding { return r.tokenFinding("a lower", higher, a) })
		}
	}
}

// bearers are the grants that carry one token.
type bearers struct {
	last   *acquisition
	shared bool              // all of them
	mixed  bool              // of more than one client
	held   lockbench.Instant // until then one of them may have been held
}

// join adds a grant with the same token and reports whether that is right: all are
// shared, or all are one client's that re-entered.
func (r *run) join(b *bearers, a *acquisition) bool {
	b.shared = b.shared && a.Shared
	b.mixed = b.mixed || a.Client != b.last.Client
	right := b.shared || r.plan.Traits.Reentrant && !b.mixed && a.Call < b.held
	b.last, b.held = a, max(b.held, r.GivenBack(a))
	return right
}

func (r *run) tokenFinding(what string, before, after *acquisition) lockbench.Finding {
	f := r.finding(before, after)
	f.At, f.From, f.To = after.Return, before.Call, after.Return
	f.Sentence = fmt.Sprintf("%s was granted %s with token %d at %s, and %s with %s token %d at %s",
		r.who(before), r.theLock(before), before.Token, r.sec(before.Return),
		r.who(after), what, after.Token, r.sec(after.Return))
	return f
}
