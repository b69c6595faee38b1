package bench

import (
	"math/rand/v2"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/clock"
)

// atRate spreads a rate over the clients, each at random times of its own, as of callers
// who know nothing of each other (a Poisson process).
func atRate(rate float64, clients int, seed uint64) func(client int) lb.Instant {
	start := clock.Now()
	type source struct {
		rand *rand.Rand
		at   lb.Instant
	}
	sources := make([]source, clients)
	for i := range sources {
		sources[i] = source{rand.New(rand.NewPCG(seed, uint64(i))), start}
	}
	return func(client int) lb.Instant {
		s := &sources[client] // each is its client's own
		s.at = s.at.Add(time.Duration(s.rand.ExpFloat64() * float64(clients) / rate * 1e9))
		return s.at
	}
}
