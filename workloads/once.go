package workloads

import (
	"context"
	"fmt"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/english"
)

// Once is a scheduled task on many servers, each of which would run it: whoever has the
// lock looks which task was run last, runs the next, and ticks it off. Each is to run
// exactly once.
type Once struct {
	// Key sends the number of the task along with its result, as an idempotency key that
	// the store takes once. Then it needs no lock: that only saves work.
	Key bool
}

// Info implements [Workload].
func (o Once) Info() Info {
	i := Info{
		Name:     "once",
		Doc:      "run the next task of a list, and tick it off: each exactly once",
		Steps:    sectionSteps,
		Evidence: []string{checker.LayerStore, checker.LayerWorkload},
	}
	if o.Key {
		i.Name, i.Guarded, i.Decides = "once-key", true, true
		i.Doc = "the same with the task's number as an idempotency key in the store, which needs no lock"
		i.Expect = []lb.Expectation{{Fault: "*", Outcomes: []lb.Outcome{lb.Safe},
			Why: "the store takes each key once: the lock only saves work"}}
	}
	return i
}

// Open implements [Workload].
func (o Once) Open(ctx context.Context, b Bench) (Task, error) {
	return open(ctx, b, func(k kit) Task { return onceTask{k, o.Key} })
}

type onceTask struct {
	kit
	key bool
}

// Run implements [Task].
func (t onceTask) Run(ctx context.Context, s Session) error {
	return under(ctx, s, func(ctx context.Context, held []*lb.Lease) error {
		return t.do(ctx, section{session: s, leases: held, change: plus(1), once: t.key, last: stepBeforeWrite})
	}, Ask{Lock: "tasks"})
}

// Judge implements [Judge]: a task ran as often as its number was written.
func (o Once) Judge(ix *history.Index, _ history.Plan) checker.Layer {
	var f findings
	var told []string
	for _, c := range cares(ix) {
		runs, refused := writesOf(ix, c)
		repeated := moreThanOnce(runs)
		if c.name == "" {
			f.repeated(ix, "task", "ran", repeated)
		}
		if c.name == "" && len(runs) == 0 {
			return vacuous("no task was run")
		}
		say := "each ran once"
		if repeated != nil {
			say = fmt.Sprintf("%d ran more than once", len(repeated))
		}
		if o.Key {
			say += fmt.Sprintf(", %s refused by the key", english.Count(refused, "repetition"))
		}
		told = append(told, strings.TrimPrefix(c.name+": ", ": ")+english.Count(len(runs), "task")+", "+say)
	}
	return f.layer("%s", strings.Join(told, "; "))
}

// writesOf are the writes of each number in a copy, in the order of their first ones, and
// how many were refused.
func writesOf(ix *history.Index, c care) (all [][]*history.Access, refused int) {
	number := map[int64]int{}
	for i := range ix.Accesses {
		a := &ix.Accesses[i]
		e := c.of(a)
		switch {
		case e == nil || !a.Write:
		case e.Result == history.Refused:
			refused++
		case e.Result == history.Landed:
			n, ok := number[e.New]
			if !ok {
				n = len(all)
				number[e.New], all = n, append(all, nil)
			}
			all[n] = append(all[n], a)
		}
	}
	return all, refused
}

// moreThanOnce are those of the things that were written more than once.
func moreThanOnce(all [][]*history.Access) (repeated [][]*history.Access) {
	for _, writes := range all {
		if len(writes) > 1 {
			repeated = append(repeated, writes)
		}
	}
	return repeated
}

// repeated adds the things that were to be done once.
func (f *findings) repeated(ix *history.Index, thing, done string, all [][]*history.Access) {
	for _, writes := range all {
		f.add(func() checker.Finding { return twice(ix, thing, done, writes) })
	}
}

// twice is a thing that was to be done once.
func twice(ix *history.Index, thing, done string, writes []*history.Access) checker.Finding {
	var by []string
	for _, a := range writes[:min(len(writes), 3)] {
		by = append(by, ix.Clients[a.Client].Name+" at "+sec(ix, a.At))
	}
	if more := len(writes) - len(by); more > 0 {
		by = append(by, fmt.Sprint(more, " more"))
	}
	last := len(by) - 1
	how := "twice"
	if len(writes) > 2 {
		how = fmt.Sprint(len(writes), " times")
	}
	f := about(ix, ix.Acqs[writes[0].Acq].Lock, writes[1], "%s-%d %s %s: by %s and by %s", thing, writes[0].Plain.New, done, how, strings.Join(by[:last], ", "), by[last])
	f.IDs = nil
	for _, a := range writes[:min(len(writes), mostFindings)] {
		acq := &ix.Acqs[a.Acq]
		f.IDs, f.From = append(f.IDs, ix.ID(acq)), min(f.From, acq.Call)
	}
	return f
}
