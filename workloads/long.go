package workloads

import (
	"math/rand/v2"
	"sync"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/clock"
)

// Long is when the clients of one process work for long. The processes take turns, in an order that
// the seed draws, and after each turn all work as usual for as long: so half of the time is long work, each
// process comes to it, and a short run has it once.
type Long struct {
	work  time.Duration
	place int // of the process among those that take turns
	of    int
	draws uint64

	mu    sync.Mutex
	began lb.Instant // the first hold
	turns int        // that are over
}

// firstLong is when long work begins at the earliest: by then a fault that waits for a holder has one.
const firstLong = 500 * time.Millisecond

// LongAtLeast is how long a run must last to have long work, and something behind it.
func LongAtLeast(work time.Duration) time.Duration {
	return firstLong + work + work/4 + time.Second
}

// NewLong is for the nth of so many processes, from 0, of a run with this seed.
func NewLong(work time.Duration, seed uint64, n, of int) *Long {
	l := &Long{work: work, of: of, draws: seed}
	l.place = l.rand(-1).Perm(of)[n%of]
	return l
}

func (l *Long) rand(turn int) *rand.Rand { return rand.New(rand.NewPCG(l.draws, uint64(turn))) }

// begins is how long after the first hold its nth turn begins, from 0.
func (l *Long) begins(n int) time.Duration {
	turn := n*l.of + l.place
	late := time.Duration(l.rand(turn).Int64N(int64(l.work)/4 + 1))
	return firstLong + 2*l.work*time.Duration(turn) + late
}

// next is how long a hold works that begins now, 0 for as usual. Turns for which nobody came are over.
func (l *Long) next() time.Duration {
	if l == nil {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := clock.Now()
	if l.began == 0 {
		l.began = now
	}
	due := false
	for ; now.Sub(l.began) >= l.begins(l.turns); l.turns++ {
		due = true
	}
	if !due {
		return 0
	}
	return l.work
}
