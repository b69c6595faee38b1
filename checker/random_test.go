package checker

import (
	"math/rand/v2"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// script is what one client does with an acquisition: the result of its acquire
// (-1: there is none) and those of its releases.
type script struct {
	acquire  int
	releases []history.Result
}

// scripts are the lives of acquisitions, the common ones several times.
var scripts = []script{
	{int(OK), []history.Result{OK}}, {int(OK), []history.Result{OK}}, {int(OK), []history.Result{OK}}, {int(OK), []history.Result{OK}},
	{int(OK), []history.Result{Unknown}}, {int(OK), []history.Result{Unknown, OK}}, {int(OK), []history.Result{Unknown, Lost}},
	{int(OK), []history.Result{Unknown, Unknown, Lost}}, {int(OK), []history.Result{Unknown, Lost, OK}},
	{int(OK), []history.Result{OK, Lost}}, {int(OK), []history.Result{Lost}}, {int(OK), []history.Result{Fail, OK}},
	{int(OK), nil}, {int(OK), []history.Result{OK, OK}}, {int(OK), []history.Result{Lost, OK}},
	{int(Unknown), []history.Result{OK}}, {int(Unknown), []history.Result{OK}}, {int(Unknown), []history.Result{Lost}},
	{int(Unknown), []history.Result{Unknown, OK}}, {int(Unknown), []history.Result{Lost, OK}}, {int(Unknown), nil},
	{int(Fail), nil}, {int(Fail), nil}, {int(Fail), []history.Result{Lost}}, {int(Fail), []history.Result{OK}},
	{-1, []history.Result{OK}}, {-1, []history.Result{Lost}}, {-1, []history.Result{Unknown}},
}

// randomOps makes a small history: 2 to 4 sequential clients on 1 or 2 locks, on
// a time scale so coarse that many intervals touch.
func randomOps(rng *rand.Rand) []Op {
	size, clients, locks := 2+rng.IntN(11), 2+rng.IntN(3), 1+rng.IntN(2)
	shared, reentrant := rng.IntN(4) == 0, rng.IntN(4) == 0
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
		if reentrant {
			op.Owner = int32(c + 1)
		}
		if life.acquire >= 0 {
			op.Result = history.Result(life.acquire)
			ops = append(ops, timed(rng, op, &clock[c], 4))
		}
		if rng.IntN(10) == 0 { // the lease runs out some time after the grant, or even before it
			ops = append(ops, Op{ID: id, Lock: op.Lock, Kind: Expire, Result: Unknown,
				Call: lockbench.Instant(max(0, clock[c]+rng.IntN(8)-2)), Return: Forever})
		}
		for _, res := range life.releases {
			op.Kind, op.Result, op.After = Release, res, life.acquire == int(OK)
			if rng.IntN(20) == 0 { // somebody else releases it, at any time
				op.After = false
				ops = append(ops, timed(rng, op, new(rng.IntN(40)), 4))
				continue
			}
			ops = append(ops, timed(rng, op, &clock[c], 4))
		}
		clock[c] += rng.IntN(1 + gap)
		if reentrant && rng.IntN(3) == 0 { // it re-enters
			clock[c] = max(0, clock[c]-rng.IntN(12))
		}
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
