package workloads

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/english"
)

// Stock is a shop at the moment of a sale: the number of items on the shelf falls by one
// with each customer, and one who finds none has a delivery written down. What was
// delivered is sold or still there; a lock that lets two in sells an item twice.
type Stock struct {
	// Goods is how many there are, each with a lock of its own. Of several, the first
	// is wanted most: the nth about 1/n as often.
	Goods int
}

// delivery is how many items one brings; the shelf begins with as many. It is more than a usual run sells:
// once the number on the shelf comes round again, what a late holder writes may be right by chance.
const delivery = 1000

// Info implements [Workload].
func (s Stock) Info() Info {
	i := Info{
		Name:     "stock",
		Doc:      fmt.Sprintf("sell one item of a stock of %d; a client that finds none has as many delivered", delivery),
		Steps:    sectionSteps,
		Evidence: []string{checker.LayerStore, checker.LayerWorkload},
	}
	if s.Goods > 1 {
		i.Name = "stock-many"
		i.Doc = fmt.Sprintf("the same with %d goods, a lock each; some are wanted more than others (Zipf)", s.Goods)
	}
	return i
}

// Open implements [Workload].
func (s Stock) Open(ctx context.Context, b Bench) (Task, error) {
	return open(ctx, b, func(k kit) Task { return stockTask{k, zipf(b.Env, s.Goods)} })
}

type stockTask struct {
	kit
	wanted func() int
}

// Run implements [Task].
func (t stockTask) Run(ctx context.Context, s Session) error {
	return under(ctx, s, func(ctx context.Context, held []*lb.Lease) error {
		return t.do(ctx, section{session: s, leases: held, first: delivery, change: sell, last: stepBeforeWrite})
	}, Ask{Lock: fmt.Sprintf("good-%d", 1+t.wanted())})
}

// sell is one sale, or the delivery that there must be before the next.
func sell(read []int64) []int64 {
	if read[0] <= 0 {
		return []int64{read[0] + delivery}
	}
	return []int64{read[0] - 1}
}

// zipf picks one of n things, the kth with a probability of about 1/k.
func zipf(env *lb.Env, n int) func() int {
	z := rand.NewZipf(env.Rand, 1.01, 1, uint64(n-1))
	return func() int { return int(z.Uint64()) }
}

// ledger is what was done with one copy of the stock of a good.
type ledger struct{ first, delivered, sold, left int64 }

// oversold is how many items the books still offer, or have sold, beyond what there was.
func (l ledger) oversold() int64 { return l.sold + l.left - l.first - l.delivered }

func (l ledger) String() string {
	return fmt.Sprintf("%d sold and %d left of %d in all", l.sold, l.left, l.first+l.delivered)
}

// books are what is wrong with some ledgers: too many of one good don't make up for too
// few of another.
type books struct {
	ledger
	over, vanished int64
}

func (b *books) add(l ledger) {
	b.first, b.delivered, b.sold, b.left = b.first+l.first, b.delivered+l.delivered, b.sold+l.sold, b.left+l.left
	b.over, b.vanished = b.over+max(0, l.oversold()), b.vanished+max(0, -l.oversold())
}

func (b *books) verdict() string {
	var wrong []string
	if b.over > 0 {
		wrong = append(wrong, fmt.Sprintf("oversold by %d", b.over))
	}
	if b.vanished > 0 {
		wrong = append(wrong, english.Count(int(b.vanished), "item")+" vanished from the books")
	}
	if wrong == nil {
		return "the books are right"
	}
	return strings.Join(wrong, ", ")
}

// Judge implements [Judge].
func (Stock) Judge(ix *history.Index, _ history.Plan) checker.Layer {
	var f findings
	var told []string
	for _, c := range cares(ix) {
		var all books
		for lock, l := range ledgers(ix, c) {
			all.add(l)
			if c.name == "" && l.oversold() != 0 {
				var one books
				one.add(l)
				f.add(func() checker.Finding {
					return about(ix, int32(lock), stale(ix, int32(lock)), "%s: %s%s", one.verdict(), l, ofGood(ix, lock))
				})
			}
		}
		if c.name == "" && all.sold == 0 {
			return vacuous("nothing was sold")
		}
		told = append(told, strings.TrimPrefix(c.name+": ", ": ")+all.verdict()+": "+all.String())
	}
	return f.layer("%s", strings.Join(told, "; "))
}

func ofGood(ix *history.Index, lock int) string {
	if len(ix.Locks) == 1 {
		return ""
	}
	return " (" + ix.Locks[lock] + ")"
}

// ledgers are those of all goods in one copy, by lock.
func ledgers(ix *history.Index, c care) []ledger {
	all, used := make([]ledger, len(ix.Locks)), make([]bool, len(ix.Locks))
	for i := range ix.Accesses {
		a := &ix.Accesses[i]
		lock := ix.Acqs[a.Acq].Lock
		e, l := c.of(a), &all[lock]
		if e == nil {
			continue
		}
		if !used[lock] {
			used[lock], l.first, l.left = true, e.Value, e.Value
		}
		if !a.Write || e.Result != history.Landed {
			continue
		}
		if l.left = e.New; e.New < e.Base {
			l.sold += e.Base - e.New
		} else {
			l.delivered += e.New - e.Base
		}
	}
	return all
}
