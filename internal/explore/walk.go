package explore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
)

// errAstray: an order did not go as it was planned.
var errAstray = errors.New("the order did not go as planned")

// errLong: an order came to no end, which it would not at another try.
var errLong = fmt.Errorf("%w: it takes longer than %v", errAstray, longest)

// Subject is what orders are walked of.
type Subject interface {
	// Begin begins an order; the one before has ended.
	Begin(ctx context.Context) (Order, error)
}

// Order is one while it is walked.
type Order interface {
	// Enabled are the moves that may come next, always in the same sequence, without faults
	// that the bounds do not allow.
	Enabled() []Move
	// Do lets one of them go, and returns when all is quiet.
	Do(ctx context.Context, m Move) error
	// End ends the order.
	End()
}

// slow is an order of which what may come next may take a moment to be seen.
type slow interface {
	// Await returns when it is as it should be, or will not be.
	Await(ctx context.Context, come func(enabled []Move) bool)
}

// effective is an order that knows of its last move whether it has done nothing that another client can
// tell, whatever it might have done.
type effective interface {
	Nothing() bool
}

// effect is what a move has done, as far as the servers say so: nothing that another client can tell, and whether
// they could.
type effect struct{ nothing, counted bool }

// recalling is an order that need not ask the servers what its next move does, where it came at this place
// in an order before.
type recalling interface {
	Effect() effect
	Recall(effect)
}

// walk goes through all orders with so many faults, each once, depth first.
type walk struct {
	rules
	subject Subject
	faults  int
	// told gets each order that has ended, before it is ended. It stops the walk with an error.
	told func(o Order, moves []Move) error
	// astray counts orders that did not go as planned, whatever was tried.
	astray int
	// why is how the first of them did, and most how many make it vain to go on; 0 for any number.
	why  string
	most int
	// vain counts orders that turned out to be known, and mostVain how many of these, and of those that met what
	// was, end the walk; 0 for any number.
	vain, mostVain int
	// went, if it is not nil, hears how each order went in the end, and vainly reports whether it is vain to go on.
	went   func(error)
	vainly func() bool
	// kept are the moments that need not be walked on from again, nil where each is; met counts the orders that
	// ended at one of them.
	kept kept
	met  int

	path []*node
	// ended are the orders that were told of, moves all of theirs, and behind is the share that was told.
	ended, moves int
	behind       float64
}

// node is a moment in which a move had to be chosen.
type node struct {
	enabled []Move
	asleep  []Move // need not be tried: what they lead to has been seen
	nothing []Move // of those that were tried, here or before what lies between: they changed nothing
	failed  []Move // led astray
	chosen  Move
	effect  *effect // of what was chosen, nil as long as it is not known
	astray  bool    // what was chosen did

	key    key
	slept  []Move // of those asleep, what has slept each time that this moment came
	walked []Move // when this moment came before
	spoilt bool   // not all that follows was walked
}

// tries is how often an order is tried again that goes astray.
const tries = 4

func (w *walk) all(ctx context.Context) error {
	for more := true; more; {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.one(ctx); err != nil {
			return err
		}
		if w.most > 0 && w.astray > w.most || w.mostVain > 0 && w.vain+w.met > w.mostVain || w.vainly != nil && w.vainly() {
			return errBudget
		}
		more = w.back()
	}
	return nil
}

// one goes the path that is chosen, and on to the end. Where that goes astray whatever is tried,
// the last choice is given up, and nothing that it would have stood for is taken for walked.
func (w *walk) one(ctx context.Context) (err error) {
	known := len(w.path)
	for range tries {
		w.path = w.path[:known]
		if err = w.go1(ctx, known); !errors.Is(err, errAstray) || errors.Is(err, errLong) || ctx.Err() != nil {
			break
		}
	}
	if w.went != nil {
		w.went(err)
	}
	if !errors.Is(err, errAstray) || ctx.Err() != nil {
		return cmp.Or(ctx.Err(), err)
	}
	w.astray++
	w.why = cmp.Or(w.why, err.Error())
	if len(w.path) > 0 {
		w.path[len(w.path)-1].astray = true
	}
	w.spoil()
	return nil
}

// spoil says that not all was walked of what follows the moments of this order.
func (w *walk) spoil() {
	for _, n := range w.path {
		n.spoilt = true
	}
}

func (w *walk) go1(ctx context.Context, known int) error {
	o, err := w.subject.Begin(ctx)
	if err != nil {
		return err
	}
	defer o.End()
	var moves []Move
	for depth := 0; ; depth++ {
		enabled := w.offered(o.Enabled(), moves)
		if depth < known {
			want := w.path[depth].enabled
			as := func(enabled []Move) bool { return slices.Equal(w.offered(enabled, moves), want) }
			if o, ok := o.(slow); ok && !as(enabled) {
				o.Await(ctx, as)
			}
			enabled = w.offered(o.Enabled(), moves)
			if !slices.Equal(enabled, want) {
				return fmt.Errorf("%w: after %v these may come: %v, where before it was %v", errAstray, moves, enabled, want)
			}
		} else {
			if len(enabled) == 0 {
				if faults(moves) != w.faults { // walked with the orders that have so many
					w.vain++
					return nil
				}
				w.ended, w.moves = w.ended+1, w.moves+len(moves)
				return w.told(o, moves)
			}
			n := w.node(depth, enabled)
			if !n.choose() { // all that may come was seen in another order
				w.vain++
				return nil
			}
			if o, ok := o.(keyed); ok && w.kept != nil {
				if n.key = o.Key(); !w.kept.meet(n) {
					w.met++
					return nil
				}
			}
			w.path = append(w.path, n)
		}
		n := w.path[depth]
		m := n.chosen
		recalls, ok := o.(recalling)
		if ok && n.effect != nil {
			recalls.Recall(*n.effect)
		}
		if err := o.Do(ctx, m); err != nil {
			return err
		}
		if ok {
			e := recalls.Effect()
			n.effect = &e
		}
		if idleMove(o, m) && !slices.Contains(n.nothing, m) {
			n.nothing = append(n.nothing, m)
		}
		moves = append(moves, m)
	}
}

// idle reports whether the order's last move has done nothing.
func idleMove(o Order, m Move) bool {
	e, ok := o.(effective)
	return ok && m.Do == Sends && e.Nothing()
}

// offered leaves out the faults that are too many here.
func (w *walk) offered(enabled, moves []Move) []Move {
	if faults(moves) < w.faults {
		return enabled
	}
	return slices.DeleteFunc(slices.Clone(enabled), Move.Fault)
}

func faults(moves []Move) (n int) {
	for _, m := range moves {
		if m.Fault() {
			n++
		}
	}
	return n
}

// node is the moment at this depth, with the moves that need not be tried there. Two that both changed nothing
// have nothing to do with each other in this moment, whatever they may do in another: each is answered as it
// would have been without the other.
func (w *walk) node(depth int, enabled []Move) *node {
	n := &node{enabled: enabled}
	if depth == 0 {
		return n
	}
	defer func() { n.slept = slices.Clone(n.asleep) }()
	before := w.path[depth-1]
	for _, m := range before.asleep {
		still := slices.Contains(before.nothing, m)
		if both := still && m.Client != before.chosen.Client && slices.Contains(before.nothing, before.chosen); !both && w.depend(m, before.chosen) {
			continue
		}
		n.asleep = append(n.asleep, m)
		if still {
			n.nothing = append(n.nothing, m)
		}
	}
	return n
}

// choose takes the first move that neither sleeps, nor was walked before, nor has led astray.
func (n *node) choose() bool {
	for _, m := range n.enabled {
		if !slices.Contains(n.asleep, m) && !slices.Contains(n.walked, m) && !slices.Contains(n.failed, m) {
			n.chosen, n.effect = m, nil
			return true
		}
	}
	return false
}

// back goes back to the last moment in which there is another choice. What was chosen there
// sleeps from now on.
func (w *walk) back() bool {
	for len(w.path) > 0 {
		last := w.path[len(w.path)-1]
		if last.astray {
			last.failed, last.astray = append(last.failed, last.chosen), false
		} else {
			last.asleep = append(last.asleep, last.chosen)
		}
		if last.choose() {
			return true
		}
		w.kept.keep(last)
		w.path = w.path[:len(w.path)-1]
	}
	return false
}

// share is about how much of the tree lies behind. Behind a choice lies as much as behind another, but for
// faults that are still to come: these may come at all the places that are left, if they don't now.
func (w *walk) share() float64 {
	behind, width := 0.0, 1.0
	for depth, n := range w.path {
		wrong := 0
		for _, m := range n.enabled {
			if m.Fault() {
				wrong++
			}
		}
		late := 1.0 // what lies behind a move that is no fault
		if right := len(n.enabled) - wrong; wrong > 0 && right > 0 && w.ended > 0 {
			late = max(1, float64(w.moves)/float64(w.ended)-float64(depth)) * float64(wrong) / float64(right)
		}
		before, own, all := 0.0, 0.0, 0.0
		for _, m := range n.enabled {
			weight := late
			if m.Fault() {
				weight = 1
			}
			if all += weight; own == 0 {
				if m == n.chosen {
					own = weight
				} else {
					before += weight
				}
			}
		}
		behind += width * before / all
		width *= own / all
	}
	w.behind = max(w.behind, behind) // what is told does not shrink as the estimate gets better
	return w.behind
}
