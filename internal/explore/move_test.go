package explore

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/backends/etcd"
	"github.com/lockbench/lockbench/backends/redis"
	"github.com/lockbench/lockbench/internal/wire"
)

// someMoves are of every kind, of two clients.
var someMoves = func() (all []Move) {
	for _, c := range []string{"c1", "c2"} {
		all = append(all, Move{c, Calls, "release"}, Move{c, Pauses, "release"}, Move{c, Sends, "peek"}, Move{c, Loses, "peek"}, Move{c, Sends, "take"}, Move{c, Sends, "put"}, Move{c, Hears, "take"}, Move{Client: c, Do: Works}, Move{c, Wakes, "queue"},
			Move{Client: c, Do: Dies}, Move{c, Loses, "take"}, Move{Client: c, Do: Expires}, Move{Client: c, Do: Ended}, Move{Client: c, Do: Quits})
	}
	return append(all, Move{Do: Expires})
}()

// bothRules are those of a lock that says nothing of its requests, and of one that says which only read,
// and may be told by others.
var bothRules = []rules{{}, {reads: []string{"peek"}, own: []string{"ping"}, told: true}}

func TestDepend(t *testing.T) {
	for name, c := range map[string]struct {
		a, b        Move
		free, bound bool // whether they depend on each other, by the first of bothRules and by the second
	}{
		"one client's":         {Move{"c1", Hears, "take"}, Move{Client: "c1", Do: Works}, true, true},
		"two requests":         {Move{"c1", Sends, "take"}, Move{"c2", Sends, "put"}, true, true},
		"one is lost":          {Move{"c1", Sends, "take"}, Move{"c2", Loses, "put"}, true, true},
		"work and work":        {Move{Client: "c1", Do: Works}, Move{Client: "c2", Do: Works}, true, true},
		"work and a request":   {Move{Client: "c1", Do: Works}, Move{"c2", Sends, "take"}, false, true},
		"work and a read":      {Move{Client: "c1", Do: Works}, Move{"c2", Sends, "peek"}, false, false},
		"work and a lost one":  {Move{Client: "c1", Do: Works}, Move{"c2", Loses, "take"}, false, true},
		"work and a call":      {Move{Client: "c1", Do: Works}, Move{"c2", Calls, "release"}, false, true},
		"two reads":            {Move{"c1", Sends, "peek"}, Move{"c2", Sends, "peek"}, true, false},
		"a read and a request": {Move{"c1", Sends, "peek"}, Move{"c2", Sends, "take"}, true, true},
		"a read is lost":       {Move{"c1", Sends, "peek"}, Move{"c2", Loses, "peek"}, true, true},
		"a ping and a request": {Move{"c1", Sends, "ping"}, Move{"c2", Sends, "take"}, true, false},
		"a ping and a death":   {Move{"c1", Sends, "ping"}, Move{Client: "c2", Do: Dies}, true, false},
		"a call and a request": {Move{"c1", Calls, "release"}, Move{"c2", Sends, "peek"}, true, true},
		"a call and an answer": {Move{"c1", Calls, "release"}, Move{"c2", Hears, "take"}, false, true},
		"a pause and work":     {Move{"c1", Pauses, "release"}, Move{Client: "c2", Do: Works}, true, true},
		"two calls":            {Move{"c1", Calls, "release"}, Move{"c2", Calls, "acquire"}, true, true},
		"an answer":            {Move{"c1", Hears, "take"}, Move{"c2", Sends, "take"}, false, true},
		"two answers":          {Move{"c1", Hears, "take"}, Move{"c2", Hears, "take"}, false, false},
		"an answer and work":   {Move{"c1", Hears, "take"}, Move{Client: "c2", Do: Works}, false, false},
		"all leases end":       {Move{Do: Expires}, Move{"c2", Hears, "take"}, true, true},
		"all leases end twice": {Move{Do: Expires}, Move{Do: Expires}, true, true},
		"another's end":        {Move{Client: "c1", Do: Expires}, Move{Client: "c2", Do: Works}, true, true},
		"death and a request":  {Move{Client: "c1", Do: Dies}, Move{"c2", Sends, "take"}, true, true},
		"death and a read":     {Move{Client: "c1", Do: Dies}, Move{"c2", Sends, "peek"}, true, true},
		"death and work":       {Move{Client: "c1", Do: Dies}, Move{Client: "c2", Do: Works}, false, true},
		"death and an answer":  {Move{Client: "c1", Do: Dies}, Move{"c2", Hears, "take"}, false, true},
		"two faults":           {Move{Client: "c1", Do: Dies}, Move{"c2", Loses, "take"}, true, true},
		"end and a request":    {Move{Client: "c1", Do: Ended}, Move{"c2", Sends, "take"}, true, true},
		"end and a wait":       {Move{Client: "c1", Do: Ended}, Move{"c2", Wakes, "queue"}, true, true},
		"giving up, a call":    {Move{Client: "c1", Do: Quits}, Move{"c2", Calls, "acquire"}, true, true},
		"giving up and work":   {Move{Client: "c1", Do: Quits}, Move{Client: "c2", Do: Works}, false, false},
		"end and work":         {Move{Client: "c1", Do: Ended}, Move{Client: "c2", Do: Works}, false, true},
		"end and a death":      {Move{Client: "c1", Do: Ended}, Move{Client: "c2", Do: Dies}, true, true},
		"two deaths":           {Move{Client: "c1", Do: Dies}, Move{Client: "c2", Do: Dies}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			for i, want := range []bool{c.free, c.bound} {
				if r := bothRules[i]; r.depend(c.a, c.b) != want || r.depend(c.b, c.a) != want {
					t.Errorf("%+v: %s, %s: %t and %t, want %t", r, c.a, c.b, r.depend(c.a, c.b), r.depend(c.b, c.a), want)
				}
			}
		})
	}
}

// TestDependEither: it makes no difference which of the two is named first.
func TestDependEither(t *testing.T) {
	for _, r := range bothRules {
		for _, a := range someMoves {
			for _, b := range someMoves {
				if r.depend(a, b) != r.depend(b, a) {
					t.Errorf("%+v: %s and %s", r, a, b)
				}
			}
			if !r.depend(a, a) {
				t.Errorf("%+v: %s does not depend on itself", r, a)
			}
		}
	}
}

// TestNormal: the form of an order stays as it is when neighbours are swapped that do not depend
// on each other, and when it is formed again, and becomes another when others are swapped.
func TestNormal(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	same, other := 0, 0
	for range 600 {
		var moves []Move
		for range 1 + r.IntN(12) {
			moves = append(moves, someMoves[r.IntN(len(someMoves))])
		}
		rules := bothRules[r.IntN(2)]
		before := slices.Clone(moves)
		form := rules.normal(moves)
		if !slices.Equal(moves, before) {
			t.Fatalf("%s became %s", nameOf(before), nameOf(moves))
		}
		if again := rules.normal(form); !slices.Equal(again, form) {
			t.Fatalf("the form of %s is %s, whose form is %s", nameOf(moves), nameOf(form), nameOf(again))
		}
		for i := 1; i < len(moves); i++ {
			swapped := slices.Clone(moves)
			swapped[i-1], swapped[i] = swapped[i], swapped[i-1]
			got, depend := rules.normal(swapped), rules.depend(moves[i-1], moves[i])
			switch equal := slices.Equal(got, form); {
			case !depend && !equal:
				t.Fatalf("%s and %s have different forms", nameOf(moves), nameOf(swapped))
			case depend && equal && moves[i-1] != moves[i]:
				t.Fatalf("%s and %s have the same form", nameOf(moves), nameOf(swapped))
			case depend:
				other++
			default:
				same++
			}
		}
	}
	if same < 100 || other < 100 {
		t.Errorf("%d swaps that make no difference, and %d others", same, other)
	}
}

// TestNormalLinear: an order's form depends on nothing but which of two moves that depend on each
// other comes first.
func TestNormalLinear(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 100 {
		var moves []Move
		for range 10 {
			moves = append(moves, someMoves[r.IntN(len(someMoves))])
		}
		want := rules{}.normal(moves)
		for range 200 {
			if i := 1 + r.IntN(len(moves)-1); !(rules{}).depend(moves[i-1], moves[i]) {
				moves[i-1], moves[i] = moves[i], moves[i-1]
			}
		}
		if got := (rules{}).normal(moves); !slices.Equal(got, want) {
			t.Fatalf("%s and %s", nameOf(got), nameOf(want))
		}
	}
}

func TestFaults(t *testing.T) {
	for _, m := range someMoves {
		if want := m.Do == Expires || m.Do == Ended || m.Do == Dies || m.Do == Loses || m.Do == Quits; m.Fault() != want {
			t.Errorf("%s: %t", m, m.Fault())
		}
	}
	if n := faults(someMoves); n != 13 {
		t.Errorf("%d faults", n)
	}
}

// TestMoveTold: no two moves read alike, and each can be written down and read.
func TestMoveTold(t *testing.T) {
	names, sentences := map[string]bool{}, map[string]bool{}
	for _, m := range someMoves {
		names[m.String()], sentences[m.Sentence()] = true, true
		text, err := json.Marshal(m)
		var back Move
		if err == nil {
			err = json.Unmarshal(text, &back)
		}
		if err != nil || back != m {
			t.Errorf("%s: %s: %v", m, text, err)
		}
	}
	if len(names) != len(someMoves) || len(sentences) != len(someMoves) {
		t.Errorf("%d moves have %d names and %d sentences", len(someMoves), len(names), len(sentences))
	}
	for m, want := range map[Move]string{
		{"c1", Sends, "set"}:            "c1 sends set",
		{Client: "c2", Do: Dies}:        "c2 dies",
		{Client: "c2", Do: Ended}:       "c2 is ended",
		{Do: Expires}:                   "expires",
		{"c1", Sends, "renewal's eval"}: "c1 sends renewal's eval",
	} {
		if m.String() != want {
			t.Errorf("%q, want %q", m, want)
		}
	}
}

// TestRulesOfPrograms: of what a program says of itself nothing counts, and its language tells which of its
// requests others could tell. One that names none has none of those.
func TestRulesOfPrograms(t *testing.T) {
	info := lb.Info{Program: true, Reads: []string{"put"}, Own: []string{"put"}}
	sends := func(name string) Move { return Move{"c1", Sends, name} }
	for _, l := range []wire.Language{etcd.Language, {}} {
		r := rulesOf(info, l)
		if r.onlyReads(sends("put")) || r.isOwn(sends("put")) || r.counts(sends("put")) {
			t.Errorf("%s: a put is nothing to others", l.Name)
		}
	}
	if r := rulesOf(info, etcd.Language); !r.onlyReads(sends("get")) || !r.isOwn(sends("keep-alive")) {
		t.Error("etcd: a get changes something, or a keep-alive is not its session's")
	}
	if r := rulesOf(info, redis.Language); !r.counts(sends("set")) || r.counts(sends("publish")) {
		t.Error("Redis: others can tell of a set that has changed nothing, or can't of a publish")
	}
}
