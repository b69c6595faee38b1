package workloads

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
)

// Transfer moves money between two of a few accounts, each with a lock of its own, and
// takes both locks before. What is in all of them must stay.
type Transfer struct {
	// Unordered takes the locks as they come, first that of the giver: two who give to
	// each other wait for each other. In the order of the names nobody can.
	Unordered bool
}

const (
	accounts = 4
	opening  = 100 // in each of them
	largest  = 10  // transfer
)

// Info implements [Workload].
func (t Transfer) Info() Info {
	i := Info{
		Name:     "transfer",
		Doc:      fmt.Sprintf("move money between two of %d accounts under both their locks, taken in order", accounts),
		Steps:    sectionSteps,
		Evidence: []string{checker.LayerStore, checker.LayerWorkload},
	}
	if t.Unordered {
		i.Name = "transfer-unordered"
		i.Doc = "the same, the giver's lock first: two who give to each other wait for each other"
		i.Expect = []lb.Expectation{{Fault: "*", Outcomes: []lb.Outcome{lb.Check, lb.Fence, lb.Stuck, lb.Broken},
			Why: "two locks in no order are a deadlock, if they are locks at all"}}
	}
	return i
}

// Open implements [Workload].
func (t Transfer) Open(ctx context.Context, b Bench) (Task, error) {
	return open(ctx, b, func(k kit) Task { return transferTask{k, t.Unordered} })
}

type transferTask struct {
	kit
	unordered bool
}

// Run implements [Task].
func (t transferTask) Run(ctx context.Context, s Session) error {
	from := t.env.Rand.IntN(accounts)
	to := (from + 1 + t.env.Rand.IntN(accounts-1)) % accounts
	amount := 1 + t.env.Rand.Int64N(largest)
	if !t.unordered && to < from {
		from, to, amount = to, from, -amount
	}
	return under(ctx, s, func(ctx context.Context, held []*lb.Lease) error {
		return t.do(ctx, section{leases: held, first: opening, last: stepBeforeWrite,
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
		opened, sum := sums(ix, c)
		if opened == 0 {
			if knots == nil {
				return vacuous("no account was used")
			}
			break
		}
		say := fmt.Sprintf("%d, as there should be", sum)
		if sum != opened {
			say = fmt.Sprintf("%d, and not %d", sum, opened)
			if c.name == "" {
				f.add(func() checker.Finding { return missing(ix, opened, sum) })
			}
		}
		told = append(told, strings.TrimPrefix(c.name+": ", ": ")+"in all accounts "+say)
	}
	return f.layer("%s", strings.Join(told, "; "))
}

// sums are what was in all accounts of a copy at first, and what is at last.
func sums(ix *history.Index, c care) (opened, sum int64) {
	last := map[int32]int64{}
	for i := range ix.Accesses {
		a := &ix.Accesses[i]
		e, lock := c.of(a), ix.Acqs[a.Acq].Lock
		if e == nil {
			continue
		}
		if _, known := last[lock]; !known {
			opened += e.Value
		}
		if last[lock] = e.Value; e.Result == history.Landed && a.Write {
			last[lock] = e.New
		}
	}
	for _, v := range last {
		sum += v
	}
	return opened, sum
}

func missing(ix *history.Index, opened, sum int64) checker.Finding {
	what := fmt.Sprintf("%d of the %d in all accounts are gone", opened-sum, opened)
	if sum > opened {
		what = fmt.Sprintf("there are %d more than the %d in all accounts", sum-opened, opened)
	}
	var first *history.Access
	for lock := range ix.Locks {
		if a := stale(ix, int32(lock)); a != nil && (first == nil || a.Seq < first.Seq) {
			first = a
		}
	}
	if first == nil {
		return about(ix, 0, nil, "%s", what)
	}
	lock := ix.Acqs[first.Acq].Lock
	return about(ix, lock, first, "%s", what+": "+ix.Clients[first.Client].Name+fmt.Sprintf(" wrote %d to %s over %d", first.Plain.New, ix.Locks[lock], first.Plain.Value))
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
	return []string{fmt.Sprintf("%s, the longest of %s: %s", plural(len(knots), "deadlock"), seconds(longest.To-longest.From), strings.Join(how, ", "))}
}
