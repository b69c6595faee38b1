package explore

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// row performs one order of clients that have each so many moves to do, and tells of each which came when.
func row(next func([]Move) Move, clients, each int) map[Move]int {
	at, did := map[Move]int{}, make([]int, clients)
	for n := 0; n < clients*each; n++ {
		var enabled []Move
		for c := range clients {
			if did[c] < each {
				enabled = append(enabled, Move{Client: toyName(c), Do: Sends, What: fmt.Sprint(did[c])})
			}
		}
		m := next(enabled)
		at[m] = n
		for c := range clients {
			if toyName(c) == m.Client {
				did[c]++
			}
		}
	}
	return at
}

// TestLanes: whatever takes up to three moves that come each before a certain other is shown as often as is promised, which by moves
// that are drawn one by one it is not.
func TestLanes(t *testing.T) {
	t.Parallel()
	const clients, each, orders = 3, 8, 40_000
	moves := clients * each
	c1 := func(n int) Move { return Move{Client: "c1", Do: Sends, What: fmt.Sprint(n)} }
	c2 := func(n int) Move { return Move{Client: "c2", Do: Sends, What: fmt.Sprint(n)} }
	bugs := []struct {
		depth int
		shown func(at map[Move]int) bool
	}{
		{1, func(at map[Move]int) bool { return at[c1(each-1)] < at[c2(0)] }},
		{2, func(at map[Move]int) bool { return at[c1(6)] < at[c2(0)] && at[c2(each-1)] < at[c1(7)] }},
		{3, func(at map[Move]int) bool {
			return at[c1(2)] < at[c2(0)] && at[c2(5)] < at[c1(3)] && at[c1(7)] < at[c2(6)]
		}},
	}
	from := rand.New(rand.NewPCG(1, 2))
	rare := false
	for _, b := range bugs {
		drawn, evenly := 0, 0
		for range orders {
			if b.shown(row(newLanes(from, b.depth, moves).next, clients, each)) {
				drawn++
			}
			if b.shown(row(func(all []Move) Move { return all[from.IntN(len(all))] }, clients, each)) {
				evenly++
			}
		}
		least := shown(b.depth, 1, clients, moves)
		if got := float64(drawn) / orders; got < .8*least {
			t.Errorf("depth %d: shown by %.5f of the orders, promised is %.5f", b.depth, got, least)
		}
		rare = rare || float64(evenly)/orders < .8*least
		t.Logf("depth %d: %d of %d orders, %d of those drawn evenly, at least %.0f are promised", b.depth, drawn, orders, evenly, least*orders)
	}
	if !rare {
		t.Error("moves that are drawn one by one do as well")
	}
}

// TestShown: some figures by hand.
func TestShown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		depth, drawn, lanes, moves int
		want                       float64
	}{{2, 1, 4, 25, .01}, {3, 1, 4, 5, .01}, {2, 0, 4, 25, 0}, {2, 10, 0, 0, 0}, {1, 2, 2, 9, .75}} {
		if got := shown(c.depth, c.drawn, c.lanes, c.moves); got < c.want-1e-9 || got > c.want+1e-9 {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestLaneOf: a client's requests to two servers, and those of its renewals, are no sequence.
func TestLaneOf(t *testing.T) {
	t.Parallel()
	set := Move{Client: "c1", Do: Sends, What: "set"}
	for _, other := range []Move{
		{Client: "c2", Do: Sends, What: "set"}, {Client: "c1", Do: Loses, What: "set"},
		{Client: "c1", Do: Sends, What: renewals + "set"}, {Client: "c1", Do: Sends, What: "set" + toServer + "2"},
	} {
		if laneOf(set) == laneOf(other) {
			t.Errorf("%v is in the lane of %v", other, set)
		}
	}
	if get := (Move{Client: "c1", Do: Sends, What: "get" + ofKey + "k"}); laneOf(set) != laneOf(get) {
		t.Errorf("%v is in another lane than %v", get, set)
	}
}
