package workloads

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/english"
)

// Transfer moves money between two of a few accounts, each with a lock of its own, and
// takes both locks before. What is in all of them must stay.
type Transfer struct {
	// Unordered takes the locks as they come, first that of the giver: two who give to
	// each other wait for each other. In the order of the names nobody can.
	Unordered bool
	// Accounts are how many there are, four if it is 0.
	Accounts int
}

const (
	accounts = 4
	opening  = 100 // in each of them
	largest  = 10  // transfer
)

func (t Transfer) accounts() int { return cmp.Or(t.Accounts, accounts) }

// Info implements [Workload].
func (t Transfer) Info() Info {
	i := Info{
		Name:     "transfer",
		Doc:      fmt.Sprintf("move money between two of %d accounts under both their locks, taken in order", t.accounts()),
		Nested:   true,
		Steps:    sectionSteps,
		Evidence: []string{checker.LayerStore, checker.LayerWorkload},
	}
	if t.Unordered {
		i.Name = "transfer-unordered"
		i.Doc = "the same, the giver's lock first: two clients that give to each other wait for each other"
		i.Expect = []lb.Expectation{{Fault: "*", Outcomes: []lb.Outcome{lb.Check, lb.Fence, lb.Stuck, lb.Broken},
			Why: "two locks in no order are a deadlock, if they are locks at all"}}
	}
	return i
}

// Open implements [Workload].
func (t Transfer) Open(ctx context.Context, b Bench) (Task, error) {
	return open(ctx, b, func(k kit) Task { return transferTask{k, t} })
}

type transferTask struct {
	kit
	of Transfer
}

// Run implements [Task].
func (t transferTask) Run(ctx context.Context, s Session) error {
	all := t.of.accounts()
	from := t.env.Rand.IntN(all)
	to := (from + 1 + t.env.Rand.IntN(all-1)) % all
	amount := 1 + t.env.Rand.Int64N(largest)
	if !t.of.Unordered && to < from {
		from, to, amount = to, from, -amount
	}
	return under(ctx, s, func(ctx context.Context, held []*lb.Lease) error {
		return t.do(ctx, section{session: s, leases: held, first: opening, last: stepBeforeWrite,
			change: func(read []int64) []int64 { return []int64{read[0] - amount, read[1] + amount} }})
	}, Ask{Lock: account(from)}, Ask{Lock: account(to)})
}

func account(n int) string { return fmt.Sprintf("account-%d", n+1) }

// Judge implements [Judge].
func (Transfer) Judge(ix *history.Index, _ history.Plan) checker.Layer {
	var f findings
	knots := deadlocks(ix, 0)
	for _, k := range knots {
		f.add(func() checker.Finding { return k.finding(ix) })
	}
	told := tellKnots(knots)
	for _, c := range cares(ix) {
		all := balances(ix, c)
		if len(all) == 0 {
			if knots == nil {
				return vacuous("no account was used")
			}
			break
		}
		var sum balance
		wrong := 0
		for _, b := range all {
			if sum.opened, sum.due, sum.is = sum.opened+b.opened, sum.due+b.due, sum.is+b.is; b.is != b.due {
				wrong++
			}
		}
		if !ix.Ended && wrong == 0 && sum.is != sum.opened {
			return checker.Layer{Name: checker.LayerWorkload, Verdict: checker.Undecided, Summary: "the run was cut short within a transfer"}
		}
		say := fmt.Sprintf("%d, as there should be", sum.is)
		switch {
		case sum.is != sum.opened:
			say = fmt.Sprintf("%d, and not %d", sum.is, sum.opened)
		case wrong > 0:
			say += ", but not where it should be: " + english.Count(wrong, "account") + " lost a transfer"
		}
		if c.name == "" && (wrong > 0 || sum.is != sum.opened) {
			f.add(func() checker.Finding { return missing(ix, all, sum) })
		}
		told = append(told, strings.TrimPrefix(c.name+": ", ": ")+"in all accounts "+say)
	}
	return f.layer("%s", strings.Join(told, "; "))
}

// balance is what was in an account of a copy at first, what should be there by the
// transfers that landed, and what is.
type balance struct {
	lock            int32
	opened, due, is int64
}

// balances are those of the accounts that were used.
func balances(ix *history.Index, c care) (all []balance) {
	number := map[int32]int{}
	for i := range ix.Accesses {
		a := &ix.Accesses[i]
		e, lock := c.of(a), ix.Acqs[a.Acq].Lock
		if e == nil {
			continue
		}
		n, known := number[lock]
		if !known {
			n = len(all)
			number[lock], all = n, append(all, balance{lock, e.Value, e.Value, e.Value})
		}
		if a.Write && e.Result == history.Landed {
			all[n].due, all[n].is = all[n].due+e.New-e.Base, e.New
		}
	}
	return all
}

// missing tells of money that is not where it should be, or not there at all.
func missing(ix *history.Index, all []balance, sum balance) checker.Finding {
	var what string
	switch {
	case sum.is < sum.opened:
		what = fmt.Sprintf("%d of the %d in all accounts are gone", sum.opened-sum.is, sum.opened)
	case sum.is > sum.opened:
		what = fmt.Sprintf("there are %d more than the %d in all accounts", sum.is-sum.opened, sum.opened)
	default:
		b := all[slices.IndexFunc(all, func(b balance) bool { return b.is != b.due })]
		what = fmt.Sprintf("a transfer is lost: %s holds %d, and should by what was moved hold %d", ix.Locks[b.lock], b.is, b.due)
	}
	var first *history.Access
	for lock := range ix.Locks {
		if a := stale(ix, int32(lock)); a != nil && (first == nil || a.Seq < first.Seq) {
			first = a
		}
	}
	if first == nil { // half a transfer, with nothing written over
		return about(ix, all[0].lock, nil, "%s", what)
	}
	lock := ix.Acqs[first.Acq].Lock
	return about(ix, lock, first, "%s: %s wrote %d to %s over %d", what, ix.Clients[first.Client].Name, first.Plain.New, ix.Locks[lock], first.Plain.Value)
}

// tellKnots says how many deadlocks there were, and what ended them.
func tellKnots(knots []knot) []string {
	if len(knots) == 0 {
		return nil
	}
	longest := slices.MaxFunc(knots, func(a, b knot) int { return int(max(-1, min(1, (a.To-a.From)-(b.To-b.From)))) })
	ends := map[string]int{}
	for _, k := range knots {
		ends[k.how]++
	}
	var how []string
	for _, h := range slices.Sorted(maps.Keys(ends)) {
		how = append(how, fmt.Sprintf("%d %s", ends[h], h))
	}
	return []string{fmt.Sprintf("%s, the longest of %s: %s", english.Count(len(knots), "deadlock"), seconds(longest.To-longest.From), strings.Join(how, ", "))}
}
