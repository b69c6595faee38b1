package checker_test

import (
	"fmt"

	lb "github.com/lockbench/lockbench"
)

// wellFormed is what docs/history.md says that a reader refuses, once more.
func wellFormed(h lb.History) error {
	for i := range h {
		if err := wellSaid(&h[i]); err != nil {
			return fmt.Errorf("line %d: %w", i+2, err)
		}
	}
	homes := homesOf(h)
	said := map[string]string{}
	open := map[string]*lb.Event{}
	asked := map[[2]string]string{}
	dead := map[string]bool{}
	seqs := map[uint64]bool{}
	ended := false
	for _, ev := range inOrder(h) {
		does := ev.Kind == lb.KindCall || ev.Kind == lb.KindReturn || ev.Kind == lb.KindRenew || ev.Kind == lb.KindLost
		if does && homes[ev.Client] != "" && dead[homes[ev.Client]] {
			return fmt.Errorf("%s does something after its death", ev.Client)
		}
		id := [2]string{ev.Lock, ev.ID}
		switch ev.Kind {
		case lb.KindCall:
			if ev.Worker != "" && said[ev.Client] != "" && said[ev.Client] != ev.Worker {
				return fmt.Errorf("%s lives twice", ev.Client)
			}
			if ev.Worker != "" {
				said[ev.Client] = ev.Worker
			}
			if ev.Op == lb.OpAcquire {
				if _, ok := asked[id]; ok {
					return fmt.Errorf("%s is asked for again", ev.ID)
				}
				asked[id] = ev.Client
			}
			open[ev.Client] = &ev
		case lb.KindReturn:
			call := open[ev.Client]
			if call == nil || call.Op != ev.Op || call.Lock != ev.Lock || call.ID != ev.ID {
				return fmt.Errorf("%s is answered without a call", ev.Client)
			}
			if ev.Shared && !call.Shared {
				return fmt.Errorf("%s is granted as shared", ev.ID)
			}
			delete(open, ev.Client)
		case lb.KindRenew, lb.KindLost, lb.KindRead, lb.KindWrite:
			if by, ok := asked[id]; !ok || by != ev.Client {
				return fmt.Errorf("%s has not asked for %s", ev.Client, ev.ID)
			}
			if ev.Kind == lb.KindRead || ev.Kind == lb.KindWrite {
				if seqs[ev.Seq] {
					return fmt.Errorf("two accesses %d", ev.Seq)
				}
				seqs[ev.Seq] = true
			}
		case lb.KindDead:
			dead[ev.Worker] = true
		case lb.KindEnd:
			if ended {
				return fmt.Errorf("a second end")
			}
			ended = true
		}
	}
	return nil
}

// wellSaid is what it says of one line. In memory, what is zero is missing.
func wellSaid(ev *lb.Event) error {
	const last = lb.Instant(1) << 62
	// What stands in fields that a kind does not have is ignored, if it is of its type.
	times := []lb.Instant{ev.At}
	if ev.Kind == lb.KindReturn || ev.Kind == lb.KindRenew {
		times = append(times, ev.Until)
	}
	if ev.Kind == lb.KindSilent || ev.Kind == lb.KindRenew {
		times = append(times, ev.Call)
	}
	for _, t := range times {
		if t < 0 || t > last {
			return fmt.Errorf("%d is no time", t)
		}
	}
	var must []bool
	client, lock, id := ev.Client != "", ev.Lock != "", ev.ID != ""
	op := ev.Op == lb.OpAcquire || ev.Op == lb.OpRelease
	switch ev.Kind {
	case lb.KindCall:
		must = []bool{op, client, lock, id}
	case lb.KindReturn:
		r := ev.Result
		must = []bool{op, client, lock, id, r == lb.OK || r == lb.Fail || r == lb.Unknown || r == lb.Lost && ev.Op == lb.OpRelease}
	case lb.KindRenew:
		must = []bool{client, lock, id, ev.Until != 0, ev.Call <= ev.At}
	case lb.KindLost:
		must = []bool{client, lock, id}
	case lb.KindWake:
		must = []bool{client, ev.Name != ""}
	case lb.KindRead, lb.KindWrite:
		must = []bool{client, lock, id, ev.Seq != 0, ev.Copies != nil}
		if ev.Copies != nil {
			must = append(must, decided(ev.Kind, &ev.Copies.Plain), decided(ev.Kind, &ev.Copies.Checked), decided(ev.Kind, ev.Copies.Fenced))
		}
	case lb.KindStep:
		must = []bool{client, id, ev.Name != ""}
	case lb.KindSilent:
		must = []bool{ev.Worker != "", ev.Call != 0, ev.Call <= ev.At}
	case lb.KindDead:
		must = []bool{ev.Worker != ""}
	case lb.KindFault:
		must = []bool{ev.Name != "", ev.Phase == "strike" || ev.Phase == "heal" || ev.Phase == "healed"}
	case lb.KindEnd:
	default:
		return fmt.Errorf("%q is no kind", ev.Kind)
	}
	for i, ok := range must {
		if !ok {
			return fmt.Errorf("a %s breaks its rule %d", ev.Kind, i+1)
		}
	}
	return nil
}

func decided(kind lb.Kind, c *lb.CopyEffect) bool {
	switch {
	case c == nil:
		return true
	case c.Result == "":
		return kind == lb.KindRead
	default:
		// Only "a read of the fenced copy with a lower token ... is refused".
		return c.Result == lb.Refused || kind == lb.KindWrite && (c.Result == lb.Landed || c.Result == lb.Skipped)
	}
}
