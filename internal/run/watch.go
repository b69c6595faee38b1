package run

import (
	"context"
	"slices"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/clock"
)

const (
	lookEvery = 100 * time.Millisecond
	// lookSlack is how late an event may come to its file, after its time stamp; lookAgain is how late
	// it may come on a machine that let its writer wait, before a violation is one.
	lookSlack = 200 * time.Millisecond
	lookAgain = time.Second
)

// watch follows the recorders and calls found at the first violation that the
// online checker sees, and still sees a moment later, when what came late to its file is
// there, too. It is for stopping early only: the verdict is made of the whole history,
// afterwards.
func (s *stage) watch(ctx context.Context, found func()) {
	follower, online := history.Follow(s.dir.EventsDir()), checker.Online{Slack: lookSlack}
	var waiting history.Events
	var again lb.Instant // what was recorded until then had the time to come
	for sleep(ctx, lookEvery) == nil {
		fresh, err := follower.Next()
		if err != nil {
			return // the run's end will say what is wrong with the file
		}
		waiting = append(waiting, fresh...)
		slices.SortStableFunc(waiting, func(a, b history.Event) int { return int(max(-1, min(1, a.At-b.At))) })
		due, _ := slices.BinarySearchFunc(waiting, clock.Now().Add(-lookSlack), func(e history.Event, t lb.Instant) int {
			return int(max(-1, min(1, e.At-t)))
		})
		for i := range waiting[:due] {
			if online.Event(&waiting[i]) == nil {
				continue
			}
			if waiting[i].At <= again {
				found()
				return
			}
			again = clock.Now()
			_ = sleep(ctx, lookAgain)
			follower, online, waiting, due = history.Follow(s.dir.EventsDir()), checker.Online{Slack: lookSlack}, nil, 0
			break
		}
		waiting = slices.Delete(waiting, 0, due)
	}
}
