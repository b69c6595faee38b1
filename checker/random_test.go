package checker

import (
	"math/rand/v2"

	"github.com/lockbench/lockbench"
)

// script is what one client does with an acquisition: the result of its acquire
// (-1: there is none) and those of its releases.
type script struct {
	acquire  int
	releases []OpResult
}

// scripts are the lives of acquisitions, the common ones several times.
var scripts = []script{
	{int(OK), []OpResult{OK}}, {int(OK), []OpResult{OK}}, {int(OK), []OpResult{OK}}, {int(OK), []OpResult{OK}},
	{int(OK), []OpResult{Unknown}}, {int(OK), []OpResult{Unknown, OK}}, {int(OK), []OpResult{Unknown, Lost}},
	{int(OK), []OpResult{Unknown, Unknown, Lost}}, {int(OK), []OpResult{Unknown, Lost, OK}},
	{int(OK), []OpResult{OK, Lost}}, {int(OK), []OpResult{Lost}}, {int(OK), []OpResult{Fail, OK}},
	{int(OK), nil}, {int(OK), []OpResult{OK, OK}}, {int(OK), []OpResult{Lost, OK}},
	{int(Unknown), []OpResult{OK}}, {int(Unknown), []OpResult{OK}}, {int(Unknown), []OpResult{Lost}},
	{int(Unknown), []OpResult{Unknown, OK}}, {int(Unknown), []OpResult{Lost, OK}}, {int(Unknown), nil},
	{int(Fail), nil}, {int(Fail), nil}, {int(Fail), []OpResult{Lost}}, {int(Fail), []OpResult{OK}},
	{-1, []OpResult{OK}}, {-1, []OpResult{Lost}}, {-1, []OpResult{Unknown}},
}

// randomOps makes a small history: 2 to 4 sequential clients on 1 or 2 locks, on
// a time scale so coarse that many intervals touch.
func randomOps(rng *rand.Rand) []Op {
	size, clients, locks := 2+rng.IntN(11), 2+rng.IntN(3), 1+rng.IntN(2)
	shared := rng.IntN(4) == 0
	common := 1 + rng.IntN(len(scripts)) // few histories use all scripts: most would be illegal
	gap := 1 + rng.IntN(30)
	clock := make([]int, clients)
	for c := range clock {
		clock[c] = rng.IntN(1 + gap)
	}
	var ops []Op
	for id := int32(0); len(ops) < size; id++ {
		c := rng.IntN(clients)
		life := scripts[rng.IntN(common)]
		op := Op{ID: id, Lock: int32(rng.IntN(locks)), Shared: shared && rng.IntN(2) == 0}
		if life.acquire >= 0 {
			op.Result = OpResult(life.acquire)
			ops = append(ops, timed(rng, op, &clock[c], 4))
		}
		if rng.IntN(10) == 0 { // the lease runs out some time after the grant, or even before it
			ops = append(ops, Op{ID: id, Lock: op.Lock, Kind: Expire, Result: Unknown,
				Call: lockbench.Instant(max(0, clock[c]+rng.IntN(8)-2)), Return: Forever})
		}
		for _, res := range life.releases {
			op.Kind, op.Result = Release, res
			if rng.IntN(20) == 0 { // somebody else releases it, at any time
				ops = append(ops, timed(rng, op, new(rng.IntN(40)), 4))
				continue
			}
			ops = append(ops, timed(rng, op, &clock[c], 4))
		}
		clock[c] += rng.IntN(1 + gap)
	}
	return ops
}

// timed gives op an interval after the clock's reading and advances the clock.
func timed(rng *rand.Rand, op Op, clock *int, most int) Op {
	*clock += rng.IntN(most)
	op.Call = lockbench.Instant(*clock)
	*clock += rng.IntN(most)
	op.Return = lockbench.Instant(*clock)
	if op.Result == Unknown {
		op.Return = Forever
	}
	return op
}
