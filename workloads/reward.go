package workloads

import (
	"context"
	"fmt"
	"slices"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/english"
)

// Reward is a gift of which each may be drawn once, and the request for it comes from every client: whoever
// presses the button twice, or whose request is sent again. A lock keeps the requests apart. It does not
// remember: the next one draws again when the lock is free.
type Reward struct {
	// Record has each request look, under the lock, what was drawn already.
	Record bool
}

// Info implements [Workload].
func (r Reward) Info() Info {
	i := Info{
		Name:     "reward",
		Doc:      "draw one reward after the other, each of which is asked for by every client, without a look at what was drawn",
		Steps:    sectionSteps,
		Evidence: []string{checker.LayerStore, checker.LayerWorkload},
	}
	if r.Record {
		i.Name, i.Sparse = "reward-record", true // most who hold the lock only look
		i.Doc = "the same, and each request looks under the lock whether its reward was drawn"
	}
	return i
}

// Open implements [Workload].
func (r Reward) Open(ctx context.Context, b Bench) (Task, error) {
	return open(ctx, b, func(k kit) Task { return &rewardTask{kit: k, record: r.Record} })
}

type rewardTask struct {
	kit
	record bool
	asked  int64 // the last reward that this client asked for
}

// Run implements [Task].
func (t *rewardTask) Run(ctx context.Context, s Session) error {
	t.asked++
	return under(ctx, s, func(ctx context.Context, held []*lb.Lease) error {
		return t.do(ctx, section{session: s, leases: held, change: t.draw, last: stepBeforeWrite})
	}, Ask{Lock: "rewards"})
}

// draw writes down which reward was drawn last, or leaves it where there is a record of this one.
func (t *rewardTask) draw(read []int64) []int64 {
	if t.record && read[0] >= t.asked {
		return nil
	}
	return []int64{t.asked}
}

// changes are the writes of a copy that changed what their client had read of it. A client that has found
// its reward drawn writes the number back, where another copy has no record of it.
func changes(all [][]*history.Access, c care) (changed [][]*history.Access) {
	for _, writes := range all {
		writes = slices.DeleteFunc(writes, func(a *history.Access) bool { return c.of(a).New == c.of(a).Base })
		if len(writes) > 0 {
			changed = append(changed, writes)
		}
	}
	return changed
}

// Judge implements [Judge]: a reward was drawn as often as its number was written. Without a record that
// is more than once under any lock, and no fault of it.
func (r Reward) Judge(ix *history.Index, _ history.Plan) checker.Layer {
	var f findings
	var told []string
	for _, c := range cares(ix) {
		drawn, _ := writesOf(ix, c)
		if r.Record {
			drawn = changes(drawn, c)
		}
		again := moreThanOnce(drawn)
		if r.Record && c.name == "" {
			f.repeated(ix, "reward", "was drawn", again)
		}
		if c.name == "" && len(drawn) == 0 {
			return vacuous("no reward was drawn")
		}
		say := "each drawn once"
		if again != nil {
			say = fmt.Sprintf("%d drawn more than once", len(again))
		}
		told = append(told, strings.TrimPrefix(c.name+": ", ": ")+english.Count(len(drawn), "reward")+", "+say)
		if !r.Record { // no care makes a difference
			if again != nil {
				told[0] += ", which no lock prevents: nobody looks whether it was drawn"
			}
			break
		}
	}
	return f.layer("%s", strings.Join(told, "; "))
}
