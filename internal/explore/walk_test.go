package explore

import (
	"context"
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// walked are the orders that a walk of the subject tells of.
func walked(t *testing.T, r rules, s Subject, faults int) (orders [][]Move, w *walk) {
	t.Helper()
	w = &walk{rules: r, subject: s, faults: faults}
	w.told = func(_ Order, moves []Move) error {
		orders = append(orders, slices.Clone(moves))
		if len(orders) > 50_000 {
			return errors.New("the walk does not end")
		}
		return nil
	}
	if err := w.all(t.Context()); err != nil {
		t.Fatal(err)
	}
	return orders, w
}

// wantEach checks that the orders are one of each class.
func wantEach(t *testing.T, r rules, orders [][]Move, classes map[string][]Move) {
	t.Helper()
	left := maps.Clone(classes)
	seen := map[string][]Move{}
	for _, moves := range orders {
		name := nameOf(r.normal(moves))
		if before, twice := seen[name]; twice {
			t.Errorf("walked twice:\n%s\n%s", nameOf(before), nameOf(moves))
		} else if classes[name] == nil {
			t.Errorf("no interleaving is like %s", nameOf(moves))
		}
		seen[name] = moves
		delete(left, name)
	}
	for _, moves := range left {
		t.Errorf("not walked: %s", nameOf(moves))
		break
	}
	if len(left) > 0 {
		t.Errorf("%d of %d are not walked", len(left), len(classes))
	}
}

// TestWalkInVain: a walk that comes upon too many orders which it knows is given up.
func TestWalkInVain(t *testing.T) {
	for seed := range uint64(120) {
		m := randomToy(rand.New(rand.NewPCG(seed, 0)))
		if m.bounds.levels() == 0 {
			continue
		}
		m.allowed = 1
		all, w := walked(t, m.rules, m, 1)
		if w.vain < 2 {
			continue
		}
		for most, want := range map[int]error{w.vain: nil, w.vain - 1: errBudget} {
			n := 0
			again := &walk{rules: m.rules, subject: m, faults: 1, mostVain: most, told: func(Order, []Move) error { n++; return nil }}
			if err := again.all(t.Context()); !errors.Is(err, want) || n > len(all) {
				t.Errorf("%d in vain, %d allowed: %v, and %d of %d orders", w.vain, most, err, n, len(all))
			}
		}
		return
	}
	t.Fatal("no model has orders that are known")
}

// TestWalkEach: of all interleavings, the walk tells of one of each class.
func TestWalkEach(t *testing.T) {
	const models = 120
	tried, orders, interesting := 0, 0, map[string]int{}
	for seed := range uint64(models) {
		m := randomToy(rand.New(rand.NewPCG(seed, 0)))
		for faults := 0; faults <= m.bounds.levels(); faults++ {
			m.allowed = faults
			free := *m
			free.hears = min(m.hears, later)
			classes, ok := free.all(t, faults)
			if !ok {
				break
			}
			got, w := walked(t, m.rules, m, faults)
			wantEach(t, m.rules, got, classes)
			if w.astray != 0 {
				t.Errorf("%d orders went astray", w.astray)
			}
			if t.Failed() {
				t.Fatalf("seed %d with %d faults: %+v", seed, faults, *m)
			}
			tried++
			orders += len(got)
			for _, moves := range got {
				for _, move := range moves {
					interesting[string(move.Do)]++
				}
			}
		}
	}
	t.Logf("%d walks, %d orders, of these moves: %v", tried, orders, interesting)
	if tried < models || orders < 10*tried {
		t.Errorf("%d walks with %d orders say little", tried, orders)
	}
	for _, do := range []Kind{Sends, Hears, Works, Expires, Dies, Loses} {
		if interesting[string(do)] == 0 {
			t.Errorf("no order in which somebody %s", do)
		}
	}
}

// TestWalkCounts: what two requests that changed nothing leave behind is not walked twice, and nothing else
// is left out: every outcome of all interleavings is one of an order that the walk tells of.
func TestWalkCounts(t *testing.T) {
	tried, fewer, saved := 0, 0, 0
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 7))
		m := &toy{rules: bothRules[r.IntN(2)], counts: true, push: r.IntN(4) == 0, hears: []toyHears{atOnce, atLast}[r.IntN(2)], ends: ends(r.IntN(2))}
		m.bounds = Bounds{Clients: 3, Polls: r.IntN(2), Expiries: r.IntN(2), Crashes: r.IntN(2), Faults: 1}
		for range m.bounds.Clients { // two are refused while the third has the lock
			m.plans = append(m.plans, toyPlan{acquisitions: 1, works: r.IntN(2)})
		}
		for faults := 0; faults <= m.bounds.levels(); faults++ {
			m.allowed = faults
			all, ok := m.outcomes(faults)
			if !ok {
				break
			}
			got, outcomes := 0, map[string]bool{}
			w := &walk{rules: m.rules, subject: m, faults: faults, told: func(o Order, _ []Move) error {
				got++
				outcomes[o.(*toyOrder).outcome()] = true
				return nil
			}}
			if err := w.all(t.Context()); err != nil {
				t.Fatal(err)
			}
			if !maps.Equal(all, outcomes) {
				t.Fatalf("seed %d with %d faults: %d outcomes of all interleavings, %d of %d orders: %+v", seed, faults, len(all), len(outcomes), got, *m)
			}
			m.counts = false
			blind, _ := walked(t, m.rules, m, faults)
			m.counts = true
			tried++
			if len(blind) > got {
				fewer, saved = fewer+1, saved+len(blind)-got
			}
		}
	}
	t.Logf("%d walks, %d of them shorter, by %d orders", tried, fewer, saved)
	if tried < 20 || fewer < tried/4 {
		t.Errorf("%d walks, of which %d are shorter, say little", tried, fewer)
	}
}

// contended is a toy with several hundred orders.
func contended() *toy {
	return &toy{bounds: Bounds{Clients: 2, Polls: 1, Expiries: 1, Crashes: 1, Lost: 1, Faults: 1}, allowed: 1, ends: endsLeases,
		plans: []toyPlan{{acquisitions: 2, works: 1}, {acquisitions: 1, works: 1, looks: 1}}}
}

// TestShareAbout: the share that is told is about that of the orders.
func TestShareAbout(t *testing.T) {
	const faults = 1
	m := contended()
	all, _ := walked(t, m.rules, m, faults)
	n, wrong := 0, 0.0
	w := &walk{rules: m.rules, subject: m, faults: faults}
	w.told = func(Order, []Move) error {
		if n++; n > len(all)/10 {
			wrong = max(wrong, math.Abs(w.share()-float64(n)/float64(len(all))))
		}
		return nil
	}
	if err := w.all(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d orders: the share is wrong by %.2f at most", len(all), wrong)
	if wrong > 0.3 {
		t.Errorf("the share is wrong by %.2f", wrong)
	}
}

// TestWalkSame: the walk is the same each time.
func TestWalkSame(t *testing.T) {
	m := contended()
	first, _ := walked(t, m.rules, m, 1)
	again, _ := walked(t, m.rules, m, 1)
	if len(first) < 100 || !slices.EqualFunc(first, again, slices.Equal[[]Move]) {
		t.Errorf("%d orders, then %d", len(first), len(again))
	}
}

// TestOffered: an order has not more faults than it is to have, and one with fewer is told of by
// another walk.
func TestOffered(t *testing.T) {
	m := contended()
	m.bounds.Faults, m.allowed = 2, 2
	for n := range 3 {
		orders, _ := walked(t, m.rules, m, n)
		if len(orders) == 0 {
			t.Errorf("no orders with %d faults", n)
		}
		for _, moves := range orders {
			if countFaults(moves) != n {
				t.Fatalf("with %d faults: %s", n, nameOf(moves))
			}
		}
	}
}

// TestShare: the share grows, from next to nothing to next to all.
func TestShare(t *testing.T) {
	// Nothing is independent of anything, so that no order is cut short.
	m := &toy{bounds: Bounds{Clients: 2}, plans: []toyPlan{{acquisitions: 1, looks: 2}, {acquisitions: 1, looks: 2}}, lies: true}
	var shares []float64
	w := &walk{subject: m}
	w.told = func(Order, []Move) error {
		shares = append(shares, w.share())
		return nil
	}
	if err := w.all(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(shares) < 10 || !slices.IsSorted(shares) || shares[0] != 0 || shares[len(shares)-1] < 0.8 || shares[len(shares)-1] >= 1 {
		t.Errorf("shares %v", shares)
	}
	if len(slices.Compact(slices.Clone(shares))) != len(shares) {
		t.Errorf("the share stands still: %v", shares)
	}
}

// TestShareGrows: it never shrinks, whatever sleeps.
func TestShareGrows(t *testing.T) {
	for seed := range uint64(40) {
		m := randomToy(rand.New(rand.NewPCG(seed, 1)))
		m.allowed = min(1, m.bounds.levels())
		last, n := 0.0, 0
		w := &walk{rules: m.rules, subject: m, faults: m.allowed}
		w.told = func(Order, []Move) error {
			if s := w.share(); s < last || s >= 1 {
				t.Fatalf("seed %d: a share of %v after %v", seed, s, last)
			} else {
				last = s
			}
			if n++; n == 60 {
				return errEnough
			}
			return nil
		}
		if err := w.all(t.Context()); err != nil && !errors.Is(err, errEnough) {
			t.Fatal(err)
		}
	}
}

var errEnough = errors.New("enough")

func TestWalkStops(t *testing.T) {
	m := contended()
	for name, c := range map[string]struct {
		stop func(cancel context.CancelFunc) error
		want error
	}{
		"by an error":    {func(context.CancelFunc) error { return errEnough }, errEnough},
		"by its context": {func(cancel context.CancelFunc) error { cancel(); return nil }, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			n := 0
			w := &walk{rules: m.rules, subject: m, faults: 1, told: func(Order, []Move) error {
				if n++; n == 7 {
					return c.stop(cancel)
				}
				return nil
			}}
			if err := w.all(ctx); !errors.Is(err, c.want) || n != 7 {
				t.Errorf("%v after %d orders", err, n)
			}
		})
	}
}

// TestWalkEnds: each order that begins is ended before the next begins.
func TestWalkEnds(t *testing.T) {
	s := &counted{Subject: contended()}
	orders, _ := walked(t, rules{}, s, 1)
	if s.begun != s.ended || s.most != 1 || s.begun < len(orders) {
		t.Errorf("%d orders: %d begun, %d ended, %d at a time", len(orders), s.begun, s.ended, s.most)
	}
}

type counted struct {
	Subject
	begun, ended, most int
}

func (s *counted) Begin(ctx context.Context) (Order, error) {
	o, err := s.Subject.Begin(ctx)
	s.begun++
	s.most = max(s.most, s.begun-s.ended)
	return countedOrder{o, s}, err
}

type countedOrder struct {
	Order
	s *counted
}

func (o countedOrder) End() { o.s.ended++; o.Order.End() }

// erring is a subject of which orders go astray.
type erring struct {
	Subject
	// errs reports whether what comes after these moves goes astray, and shows whether other
	// moves are shown than there are.
	errs, shows func(moves []Move) bool
	begun       int
}

func (s *erring) Begin(ctx context.Context) (Order, error) {
	s.begun++
	o, err := s.Subject.Begin(ctx)
	return &erringOrder{o, s, nil}, err
}

type erringOrder struct {
	Order
	s     *erring
	moves []Move
}

func (o *erringOrder) Do(ctx context.Context, m Move) error {
	o.moves = append(o.moves, m)
	if o.s.errs != nil && o.s.errs(o.moves) {
		return errAstray
	}
	return o.Order.Do(ctx, m)
}

// Key implements [keyed].
func (o *erringOrder) Key() key { return o.Order.(keyed).Key() }

func (o *erringOrder) Enabled() []Move {
	all := o.Order.Enabled()
	if o.s.shows != nil && o.s.shows(o.moves) {
		return append(all, Move{Client: "c9", Do: Sends})
	}
	return all
}

// TestAstrayNowAndThen: what goes astray for once is tried again, and nothing is lost.
func TestAstrayNowAndThen(t *testing.T) {
	m := contended()
	want, _ := walked(t, m.rules, m, 1)
	r := rand.New(rand.NewPCG(1, 2))
	in := 0 // in a row
	at := 0
	s := &erring{Subject: m}
	var last int
	now := func(moves []Move) bool {
		if last != s.begun {
			last = s.begun
			if in++; in > tries-1 || r.IntN(2) == 0 {
				in, at = 0, -1
			} else {
				at = 1 + r.IntN(8)
			}
		}
		return len(moves) == at
	}
	s.errs = now
	got, w := walked(t, m.rules, s, 1)
	if !slices.EqualFunc(want, got, slices.Equal[[]Move]) || w.astray != 0 {
		t.Errorf("%d orders of %d, %d astray", len(got), len(want), w.astray)
	}
	if s.begun < len(want)*3/2 {
		t.Errorf("only %d orders begun", s.begun)
	}
}

// TestAstrayShown: an order in which other moves may come next than when it was planned is tried
// again.
func TestAstrayShown(t *testing.T) {
	m := contended()
	want, _ := walked(t, m.rules, m, 1)
	s := &erring{Subject: m}
	var last, n int
	s.shows = func(moves []Move) bool {
		if last != s.begun {
			last, n = s.begun, n+1
		}
		return n%3 == 2 && len(moves) == 1 && moves[0] == want[0][0] && s.begun > 1
	}
	got, w := walked(t, m.rules, s, 1)
	if !slices.EqualFunc(want, got, slices.Equal[[]Move]) || w.astray != 0 {
		t.Errorf("%d orders of %d, %d astray", len(got), len(want), w.astray)
	}
}

// TestAstrayTries: an order that always goes astray is tried so often, and counted.
func TestAstrayTries(t *testing.T) {
	m := contended()
	want, _ := walked(t, m.rules, m, 1)
	bad := want[len(want)/2]
	n := 0
	s := &erring{Subject: m, errs: func(moves []Move) bool {
		if !slices.Equal(moves, bad) {
			return false
		}
		n++
		return true
	}}
	got, w := walked(t, m.rules, s, 1)
	if n != tries || w.astray != 1 {
		t.Errorf("tried %d times, %d astray", n, w.astray)
	}
	if len(got) >= len(want) || len(got) == 0 {
		t.Errorf("%d orders of %d", len(got), len(want))
	}
}

// TestAstrayTold: it goes astray, too, where what follows it does.
func TestAstrayTold(t *testing.T) {
	m := contended()
	want, _ := walked(t, m.rules, m, 1)
	n, got := 0, 0
	w := &walk{rules: m.rules, subject: m, faults: 1, told: func(Order, []Move) error {
		if n++; n%3 == 1 {
			return errAstray
		}
		got++
		return nil
	}}
	if err := w.all(t.Context()); err != nil || got != len(want) || w.astray != 0 {
		t.Errorf("%v: %d orders of %d, %d astray", err, got, len(want), w.astray)
	}
}

// TestWalkFails: what is no order gone astray ends the walk.
func TestWalkFails(t *testing.T) {
	w := &walk{subject: failing{}, told: func(Order, []Move) error { return nil }}
	if err := w.all(t.Context()); !errors.Is(err, errEnough) {
		t.Error(err)
	}
}

type failing struct{}

func (failing) Begin(context.Context) (Order, error) { return nil, errEnough }
