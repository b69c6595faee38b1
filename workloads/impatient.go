package workloads

import (
	"context"
	"fmt"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/english"
)

// Impatient are clients that rarely wait to the end: they try, have deadlines, are
// cancelled, stay away afterwards, or do nothing for longer than a lease. There are more
// locks than clients. What somebody who gave up leaves behind keeps others waiting for a
// lock that nobody has.
type Impatient struct{}

const (
	manyLocks = 12
	// patience is how long a client waits at most that does not wait to the end.
	patience = 30 * time.Millisecond
)

// Info implements [Workload].
func (Impatient) Info() Info {
	return Info{
		Name:     "impatient",
		Doc:      fmt.Sprintf("try, wait for up to %v, be cancelled or wait to the end for one of %d locks; stay away sometimes", patience, manyLocks),
		Steps:    sectionSteps,
		Evidence: []string{checker.LayerStore, checker.LayerWorkload},
		Sparse:   true,
		GivesUp:  true,
		Leases:   3, // a place in a queue may stay for one
	}
}

// Open implements [Workload].
func (Impatient) Open(ctx context.Context, b Bench) (Task, error) {
	return open(ctx, b, func(k kit) Task { return impatientTask{k, zipf(b.Env, manyLocks), everyOther(b.Env.Client)} })
}

type impatientTask struct {
	kit
	pick func() int
	// waits says that the client waits to the end now and then. Half of them never do:
	// behind what somebody left they are not held up, and show that the lock service is
	// well.
	waits bool
}

// Run implements [Task].
func (t impatientTask) Run(ctx context.Context, s Session) error {
	ask := Ask{Lock: fmt.Sprintf("lock-%d", 1+t.pick())}
	asking, giveUp := context.WithCancel(ctx)
	defer giveUp()
	wait := time.Duration(1 + t.env.Rand.Int64N(int64(patience)))
	switch dice := t.env.Rand.IntN(10); {
	case t.waits && dice < 4:
	case dice < 6:
		ask.Try = true
	case dice < 8:
		var stop context.CancelFunc
		asking, stop = t.env.WithTimeout(asking, wait)
		defer stop()
	default:
		go func() {
			if t.env.Clock.Sleep(asking, wait) == nil {
				giveUp()
			}
		}()
	}
	err := under(asking, s, t.adds(s), ask)
	t.rest(ctx, err != nil)
	return err
}

// everyOther picks half of the clients, by the numbers in their names.
func everyOther(client string) bool {
	sum := 0
	for _, c := range client {
		if '0' <= c && c <= '9' {
			sum += int(c - '0')
		}
	}
	return sum%2 == 0
}

// rest is what a client does before it comes again: who gave up stays away now and then
// for up to a quarter of a lease, and anybody once in a while for longer than one.
func (t impatientTask) rest(ctx context.Context, gaveUp bool) {
	ttl := int64(t.env.TTL)
	switch {
	case t.env.Rand.IntN(60) == 0:
		_ = t.env.Clock.Sleep(ctx, time.Duration(ttl+ttl/5))
	case gaveUp && t.env.Rand.IntN(4) == 0:
		_ = t.env.Clock.Sleep(ctx, time.Duration(t.env.Rand.Int64N(ttl/4)))
	}
}

// Judge implements [Judge]: how many gave up, and whether a lock stayed taken that nobody
// had.
func (Impatient) Judge(ix *history.Index, plan history.Plan) checker.Layer {
	var f findings
	gaveUp, granted, longest := 0, 0, lb.Instant(0)
	for n := range ix.Acqs {
		switch a := &ix.Acqs[n]; {
		case a.Granted():
			granted++
		case a.Asked:
			gaveUp++
		}
		longest = max(longest, ix.Waited(int32(n))-ix.Acqs[n].Call)
	}
	if gaveUp == 0 || granted == 0 {
		return vacuous(fmt.Sprintf("%d gave up, and %d were granted a lock", gaveUp, granted))
	}
	for _, left := range checker.LeftBehind(ix, plan) {
		f.add(func() checker.Finding { return blamed(ix, left) })
	}
	say := "nothing was left behind"
	if f.count > 0 {
		say = english.Count(f.count, "lock") + " stayed taken that nobody had"
	}
	return f.layer("%d gave up, %d were granted a lock: %s; the longest wait %s", gaveUp, granted, say, seconds(longest))
}

// blamed adds to the finding who had given up waiting for that lock last, of those who
// had asked for it before it stayed taken.
func blamed(ix *history.Index, left checker.Finding) checker.Finding {
	var last *history.Acquisition
	for n := range ix.Acqs {
		a := &ix.Acqs[n]
		if a.Asked && a.Result == lb.AnswerFailed && ix.Locks[a.Lock] == left.Lock && a.Call <= left.From && (last == nil || a.Return > last.Return) {
			last = a
		}
	}
	if last != nil {
		left.Sentence += fmt.Sprintf("; %s had asked for it at %s and given up at %s", ix.ClientName(last), sec(ix, last.Call), sec(ix, last.Return))
		left.IDs, left.From = append(left.IDs, ix.ID(last)), min(left.From, last.Call)
	}
	return left
}
