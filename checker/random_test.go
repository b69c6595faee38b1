package checker

import (
	"math/rand/v2"

	lb "github.com/lockbench/lockbench"
)

// script is what one client does with an acquisition: the result of its acquire
// (-1: there is none) and those of its releases.
type script struct {
	acquire  int
	releases []lb.Answer
}

// scripts are the lives of acquisitions, the common ones several times.
var scripts = []script{
	{int(OK), []lb.Answer{OK}}, {int(OK), []lb.Answer{OK}}, {int(OK), []lb.Answer{OK}}, {int(OK), []lb.Answer{OK}},
	{int(OK), []lb.Answer{Unknown}}, {int(OK), []lb.Answer{Unknown, OK}}, {int(OK), []lb.Answer{Unknown, Lost}},
	{int(OK), []lb.Answer{Unknown, Unknown, Lost}}, {int(OK), []lb.Answer{Unknown, Lost, OK}},
	{int(OK), []lb.Answer{Released}}, {int(OK), []lb.Answer{Unknown, Released}}, {int(OK), []lb.Answer{Released, Lost}},
	{int(OK), []lb.Answer{OK, Released}}, {int(OK), []lb.Answer{OK, Lost}}, {int(OK), []lb.Answer{Lost}}, {int(OK), []lb.Answer{Fail, OK}},
	{int(OK), nil}, {int(OK), []lb.Answer{OK, OK}}, {int(OK), []lb.Answer{Lost, OK}},
	{int(Unknown), []lb.Answer{OK}}, {int(Unknown), []lb.Answer{OK}}, {int(Unknown), []lb.Answer{Lost}},
	{int(Unknown), []lb.Answer{Unknown, OK}}, {int(Unknown), []lb.Answer{Lost, OK}}, {int(Unknown), nil},
	{int(OK), []lb.Answer{Released, OK}}, {int(OK), []lb.Answer{Released, Released}},
	{int(Fail), nil}, {int(Fail), nil}, {int(Fail), []lb.Answer{Lost}}, {int(Fail), []lb.Answer{OK}},
	{-1, []lb.Answer{OK}}, {-1, []lb.Answer{Lost}}, {-1, []lb.Answer{Unknown}},
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
	known := !reentrant && rng.IntN(2) == 0 // in which order each client called
	for id := int32(0); len(ops) < size; id++ {
		c := rng.IntN(clients)
		life := scripts[rng.IntN(common)]
		op := Op{ID: id, Lock: int32(rng.IntN(locks)), Shared: shared && rng.IntN(2) == 0}
		if reentrant {
			op.Owner = int32(c + 1)
		}
		if life.acquire >= 0 {
			op.Result = lb.Answer(life.acquire)
			ops = append(ops, called(timed(rng, op, &clock[c], 4), c, len(ops), known))
		}
		if rng.IntN(10) == 0 { // the lease runs out some time after the grant, or even before it
			ops = append(ops, Op{ID: id, Lock: op.Lock, Kind: Expire, Result: Unknown,
				Call: lb.Instant(max(0, clock[c]+rng.IntN(8)-2)), Return: Forever})
		}
		for _, res := range life.releases {
			op.Kind, op.Result, op.After = Release, res, life.acquire == int(OK)
			if rng.IntN(20) == 0 { // somebody else releases it, at any time
				op.After = false
				if res == Released { // it may be too early
					op.Result = Unknown
				}
				ops = append(ops, timed(rng, op, new(rng.IntN(40)), 4))
				continue
			}
			ops = append(ops, called(timed(rng, op, &clock[c], 4), c, len(ops), known))
		}
		clock[c] += rng.IntN(1 + gap)
		if reentrant && rng.IntN(3) == 0 { // it re-enters
			clock[c] = max(0, clock[c]-rng.IntN(12))
		}
	}
	return ops
}

// called says who did the nth call, if that is known.
func called(op Op, client, nth int, known bool) Op {
	if known {
		op.Client, op.Order = int32(client+1), uint32(nth+1)
	}
	return op
}

// timed gives op an interval after the clock's reading and advances the clock.
func timed(rng *rand.Rand, op Op, clock *int, most int) Op {
	*clock += rng.IntN(most)
	op.Call = lb.Instant(*clock)
	*clock += rng.IntN(most)
	op.Return = lb.Instant(*clock)
	if op.Result == Unknown {
		op.Return = Forever
	}
	return op
}
