package explore

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// lane is whose moves come one after the other: what a client, or its renewal, does in one way at one server.
type lane struct {
	client  string
	do      Kind
	renewal bool
	server  string
}

func laneOf(m Move) lane {
	_, server, _ := strings.Cut(m.What, toServer)
	server, _, _ = strings.Cut(server, ofKey)
	return lane{m.Client, m.Do, strings.HasPrefix(m.What, renewals), server}
}

// lanes draws one order by probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi and
// Nagarakatte, "A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs", ASPLOS 2010): each lane
// has a priority that is drawn, and the first of those that can go on does; before depth-1 moves that are drawn,
// the lane whose turn it is becomes the last. Of k lanes and n moves, the order shows what takes depth moves that
// come each before a certain other with a probability of at least 1/(k·n^(depth-1)).
type lanes struct {
	from     *rand.Rand
	priority map[lane]float64
	changes  []int // before which moves, counted from 0
	moves    int
}

func newLanes(from *rand.Rand, depth, longest int) *lanes {
	l := &lanes{from: from, priority: map[lane]float64{}}
	for range depth - 1 {
		l.changes = append(l.changes, from.IntN(max(1, longest)))
	}
	return l
}

// next is the move that comes next, of those that may.
func (l *lanes) next(enabled []Move) Move {
	m := l.first(enabled)
	for i, at := range l.changes {
		if at == l.moves {
			l.priority[laneOf(m)] = -float64(i) - 1 // below all that are drawn
			m = l.first(enabled)
		}
	}
	l.moves++
	return m
}

// first is a move of the lane that comes first; which, if there are several, is drawn.
func (l *lanes) first(enabled []Move) Move {
	for _, m := range enabled {
		if _, ok := l.priority[laneOf(m)]; !ok {
			l.priority[laneOf(m)] = l.from.Float64()
		}
	}
	of := func(m Move) float64 { return l.priority[laneOf(m)] }
	top := of(slices.MaxFunc(enabled, func(a, b Move) int { return cmp.Compare(of(a), of(b)) }))
	its := slices.DeleteFunc(slices.Clone(enabled), func(m Move) bool { return of(m) != top })
	return its[l.from.IntN(len(its))]
}

// shown is the probability, at least, with which one of so many drawn orders has shown what takes depth moves that come
// each before a certain other.
func shown(depth, drawn, lanes, moves int) float64 {
	if lanes == 0 || moves == 0 {
		return 0
	}
	return 1 - math.Pow(1-1/(float64(lanes)*math.Pow(float64(moves), float64(depth-1))), float64(drawn))
}
