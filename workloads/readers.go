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

// Readers is a number that is looked at more often than it is changed, under a lock with
// a shared mode: a reader looks twice and must see the same, a writer is never with
// anybody, and readers are together.
type Readers struct {
	// InTurn: nothing is drawn. A client writes and reads in turn, and every other client begins by reading.
	InTurn bool
}

// writers is how many iterations of a hundred write.
const writers = 25

// stepBeforeSecondRead is what [stepBeforeWrite] is for a reader: it has looked at its
// lease, and is about to look again at what it relies on.
const stepBeforeSecondRead = "before-second-read"

// Info implements [Workload].
func (Readers) Info() Info {
	return Info{
		Name:     "readers",
		Doc:      fmt.Sprintf("look twice at a number under a shared lock, or (%d%%) change it under an exclusive one", writers),
		Needs:    lb.Traits{Shared: true},
		Steps:    append(sectionSteps[:len(sectionSteps):len(sectionSteps)], stepBeforeSecondRead),
		Evidence: []string{checker.LayerStore, checker.LayerWorkload},
	}
}

// Open implements [Workload].
func (r Readers) Open(ctx context.Context, b Bench) (Task, error) {
	return open(ctx, b, func(k kit) Task { return &readersTask{kit: k, inTurn: r.InTurn} })
}

type readersTask struct {
	kit
	inTurn bool
	n      int // iterations
}

// reads reports whether the next iteration does.
func (t *readersTask) reads() bool {
	if !t.inTurn {
		return t.env.Rand.IntN(100) >= writers
	}
	t.n++
	last := t.env.Client[len(t.env.Client)-1]
	return (t.n+int(last))%2 == 1
}

// Run implements [Task].
func (t *readersTask) Run(ctx context.Context, s Session) error {
	shared := t.reads()
	return under(ctx, s, func(ctx context.Context, held []*lb.Lease) error {
		if shared {
			return t.do(ctx, section{session: s, leases: held, last: stepBeforeSecondRead})
		}
		return t.do(ctx, section{session: s, leases: held, change: plus(1), last: stepBeforeWrite})
	}, Ask{Shared: shared})
}

// Judge implements [Judge]: who relied on what had changed, whether readers were
// together, and how long either had to wait.
func (Readers) Judge(ix *history.Index, _ history.Plan) checker.Layer {
	var f findings
	var told []string
	for _, c := range cares(ix) {
		looked, torn := 0, 0
		first := map[int32]*history.Access{}
		for i := range ix.Accesses {
			a := &ix.Accesses[i]
			e := c.of(a)
			switch {
			case e == nil || a.Write:
			case !a.Confirms():
				first[a.Acq] = a
			case e.Result == history.Landed:
				if looked++; e.Base == e.Value {
					continue
				}
				if torn++; c.name == "" {
					f.add(func() checker.Finding { return tornFinding(ix, first[a.Acq], a) })
				}
			}
		}
		if c.name == "" && looked == 0 {
			return vacuous("nobody read")
		}
		say := "all saw the same twice"
		if torn > 0 {
			say = fmt.Sprintf("%d did not see the same twice", torn)
		}
		told = append(told, strings.TrimPrefix(c.name+": ", ": ")+english.Count(looked, "reader")+", "+say)
	}
	together := most(ix)
	told = append(told, fmt.Sprintf("up to %d at once", together), "the longest wait of a reader "+seconds(longestWait(ix, true))+", of a writer "+seconds(longestWait(ix, false)))
	if together < 2 && f.count == 0 {
		return vacuous("no two readers were together: the shared mode shares nothing; " + strings.Join(told, "; "))
	}
	return f.layer("%s", strings.Join(told, "; "))
}

func tornFinding(ix *history.Index, first, again *history.Access) checker.Finding {
	when := ""
	if first != nil {
		when = " at " + sec(ix, first.At)
	}
	f := about(ix, ix.Acqs[again.Acq].Lock, again, "%s read %d%s, and %d when it looked again at %s, under one shared lock",
		ix.Clients[again.Client].Name, again.Plain.Base, when, again.Plain.Value, sec(ix, again.At))
	for i := range ix.Accesses {
		w := &ix.Accesses[i]
		if first == nil || w.Seq <= first.Seq || w.Seq >= again.Seq || !w.Write || w.Plain.Result != history.Landed || ix.Acqs[w.Acq].Lock != ix.Acqs[again.Acq].Lock {
			continue
		}
		if len(f.IDs) == 1 {
			f.Sentence += "; " + ix.Clients[w.Client].Name + " had written in between"
		}
		if len(f.IDs) < mostFindings {
			f.IDs = append(f.IDs, ix.ID(&ix.Acqs[w.Acq]))
		}
	}
	return f
}

// most is how many clients relied on one lock at once at most, sharing it.
func most(ix *history.Index) (n int) {
	for _, acqs := range ix.ByLock() {
		var changes []change
		for _, i := range acqs {
			if a := &ix.Acqs[i]; a.Shared {
				for _, s := range ix.Belief(a) {
					changes = append(changes, change{s.From, 1}, change{s.To, -1})
				}
			}
		}
		n = max(n, peak(changes))
	}
	return n
}

// longestWait is the longest that somebody waited for a lock in the one mode or the other.
func longestWait(ix *history.Index, shared bool) (longest lb.Instant) {
	for n := range ix.Acqs {
		if a := &ix.Acqs[n]; a.Asked && a.Shared == shared {
			longest = max(longest, ix.Waited(int32(n))-a.Call)
		}
	}
	return longest
}
