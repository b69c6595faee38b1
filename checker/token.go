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
	for _, acqs := range r.perLock((*acquisition).granted) {
		for _, a := range acqs {
			if a.token > 0 {
				tokens++
			} else {
				missing++
			}
		}
		r.checkTokens(&f, acqs)
	}
	switch {
	case tokens == 0 && !r.plan.Fenced:
		return lockbench.Layer{Verdict: lockbench.Vacuous, Summary: "no tokens"}
	case tokens+missing == 0:
		return lockbench.Layer{Verdict: lockbench.Vacuous, Summary: "nothing was granted"}
	case missing > 0:
		f.add(func() lockbench.Finding {
			return lockbench.Finding{At: r.start, From: r.start, To: r.last,
				Sentence: fmt.Sprintf("%s came without a token, %d with one", count(missing, "grant"), tokens)}
		})
	case f.count == 0:
		return f.layer(lockbench.Valid, "%s, each greater than all before", count(tokens, "token"))
	}
	return f.layer(lockbench.Invalid, "%s, %s out of order, repeated or missing", count(tokens, "token"), count(f.count, "case"))
}

// checkTokens sweeps over one lock in the order of the calls; before each, the
// grants that had returned by then have been taken in. Shared grants may have one
// token in common.
func (r *run) checkTokens(f *findings, acqs []*acquisition) {
	acqs = slices.DeleteFunc(acqs, func(a *acquisition) bool { return a.token == 0 })
	returned := slices.Clone(acqs)
	slices.SortStableFunc(returned, func(a, b *acquisition) int { return cmp.Compare(a.ret, b.ret) })
	slices.SortStableFunc(acqs, func(a, b *acquisition) int { return cmp.Compare(a.call, b.call) })
	seen := map[uint64]*acquisition{}
	var highest *acquisition
	for _, a := range acqs {
		for ; len(returned) > 0 && returned[0].ret < a.call; returned = returned[1:] {
			if highest == nil || returned[0].token > highest.token {
				highest = returned[0]
			}
		}
		other, twice := seen[a.token]
		seen[a.token] = a
		switch {
		case twice && !(a.shared && other.shared):
			f.add(func() lockbench.Finding { return r.tokenFinding("the same", other, a) })
		case highest != nil && a.token < highest.token:
			f.add(func() lockbench.Finding { return r.tokenFinding("a lower", highest, a) })
		}
	}
}

func (r *run) tokenFinding(what string, before, after *acquisition) lockbench.Finding {
	return lockbench.Finding{At: after.ret, From: before.call, To: after.ret, IDs: []string{before.id, after.id},
		Sentence: fmt.Sprintf("%s was granted %s with token %d at %s, and %s with %s token %d at %s",
			before.who(), r.theLock(before.lock), before.token, r.sec(before.ret),
			after.who(), what, after.token, r.sec(after.ret))}
}
