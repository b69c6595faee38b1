package workloads

import (
	"context"
	"fmt"
	"slices"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/english"
)

// NeverReleases is a caller that forgets to unlock now and then, as one does that throws and has no
// finally: its process lives on, and so does whatever renews the lock. A lease that nobody renews
// ends by itself.
type NeverReleases struct{}

// One hold in forgets is not given back.
const forgets = 12

// Info implements [Workload].
func (NeverReleases) Info() Info {
	return Info{
		Name:     "never-releases",
		Doc:      fmt.Sprintf("read a counter, write it back plus one; one hold in %d is not given back, and its process lives on", forgets),
		Steps:    sectionSteps,
		Evidence: []string{checker.LayerStore, checker.LayerWorkload},
		Forgets:  true,
		Leases:   4, // what is forgotten must come back
	}
}

// Open implements [Workload].
func (NeverReleases) Open(ctx context.Context, b Bench) (Task, error) {
	return open(ctx, b, func(k kit) Task { return forgetfulTask{k} })
}

type forgetfulTask struct{ kit }

// Run implements [Task].
func (t forgetfulTask) Run(ctx context.Context, s Session) error {
	work := t.adds(s)
	if t.env.Rand.IntN(forgets) > 0 {
		return under(ctx, s, work, Ask{})
	}
	lease, err := s.Acquire(ctx, Ask{})
	if err != nil {
		return err
	}
	return work(context.WithoutCancel(ctx), []*lb.Lease{lease})
}

// comesBack is how long a lock may stay taken that was forgotten: as long as that of a holder that died.
func comesBack(plan history.Plan) lb.Instant { return lb.Instant(2*plan.TTL + 2*time.Second) }

// Judge implements [Judge]: when others got the lock that somebody had forgotten.
func (NeverReleases) Judge(ix *history.Index, plan history.Plan) checker.Layer {
	var f findings
	forgotten, longest, still := 0, lb.Instant(0), silences(ix)
	for lock, grants := range grantsOf(ix) {
		for n, a := range grants {
			if ix.Released(a) < history.Forever || ix.Dead(a) < history.Forever {
				continue
			}
			taken, over := history.Span{From: a.Return, To: ix.End}, false
			if i := slices.IndexFunc(grants[n:], func(b *history.Acquisition) bool { return b.Client != a.Client }); i >= 0 {
				taken.To, over = grants[n+i].Return, true
			}
			// What a process that stood still missed it makes up for; what a fault leaves behind may last.
			late := !struck(ix, taken) && slices.ContainsFunc(history.Without([]history.Span{taken}, still), func(calm history.Span) bool {
				return calm.To-calm.From > comesBack(plan) && waitedFor(ix, int32(lock), a.Client, calm)
			})
			if !over && !late {
				continue // the run was over before, something else kept the others out, or nobody else asked
			}
			forgotten++
			longest = max(longest, taken.To-taken.From)
			if late {
				f.add(func() checker.Finding { return neverBack(ix, a, taken, over) })
			}
		}
	}
	if forgotten == 0 {
		return vacuous("there is no forgotten hold of which to tell when others had the lock again")
	}
	say := "others had the lock again after %s at most"
	if f.count > 0 {
		say = "others did without the lock for %s"
	}
	return f.layer("%s never given back: "+say, english.Count(forgotten, "hold"), seconds(longest))
}

// waitedFor reports whether another client than but waited for the lock at the end of s.
func waitedFor(ix *history.Index, lock, but int32, s history.Span) bool {
	for n := range ix.Acqs {
		if a := &ix.Acqs[n]; a.Asked && a.Lock == lock && a.Client != but && a.Call < s.To && ix.Waited(int32(n)) >= s.To {
			return true
		}
	}
	return false
}

// neverBack is a lock that stayed taken by somebody who had forgotten it.
func neverBack(ix *history.Index, a *history.Acquisition, taken history.Span, over bool) checker.Finding {
	until := "nobody else had been granted it when the run was over"
	if over {
		until = "nobody else was granted it before " + sec(ix, taken.To)
	}
	return checker.Finding{Mechanism: lb.Ghost, Lock: ix.Locks[a.Lock], At: taken.From, From: a.Call, To: taken.To, IDs: []string{ix.ID(a)},
		Sentence: fmt.Sprintf("%s was granted the lock at %s and never gave it back, its process lived on, and %s, %s later",
			ix.ClientName(a), sec(ix, a.Return), until, seconds(taken.To-taken.From))}
}
