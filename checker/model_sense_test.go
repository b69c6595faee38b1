package checker_test

import (
	"fmt"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// wellFormed is what docs/history.md says that a reader refuses, once more.
func wellFormed(h history.Events) error {
	for i := range h {
		if err := wellSaid(&h[i]); err != nil {
			return fmt.Errorf("line %d: %w", i+2, err)
		}
	}
	homes := homesOf(h)
	said := map[string]string{}
	open := map[string]*history.Event{}
	asked := map[[2]string]string{}
	dead := map[string]bool{}
	seqs := map[uint64]bool{}
	ended := false
	for _, ev := range inOrder(h) {
		does := ev.Kind == history.KindCall || ev.Kind == history.KindReturn || ev.Kind == history.KindRenew || ev.Kind == history.KindLost
		if does && homes[ev.Client] != "" && dead[homes[ev.Client]] {
			return fmt.Errorf("%s does something after its death", ev.Client)
		}
		id := [2]string{ev.Lock, ev.ID}
		switch ev.Kind {
		case history.KindCall:
			if ev.Worker != "" && said[ev.Client] != "" && said[ev.Client] != ev.Worker {
				return fmt.Errorf("%s lives twice", ev.Client)
			}
			if ev.Worker != "" {
				said[ev.Client] = ev.Worker
			}
			if ev.Op == history.OpAcquire {
				if _, ok := asked[id]; ok {
					return fmt.Errorf("%s is asked for again", ev.ID)
				}
				asked[id] = ev.Client
			}
			open[ev.Client] = &ev
		case history.KindReturn:
			call := open[ev.Client]
			if call == nil || call.Op != ev.Op || call.Lock != ev.Lock || call.ID != ev.ID {
				return fmt.Errorf("%s is answered without a call", ev.Client)
			}
			if ev.Shared && !call.Shared {
				return fmt.Errorf("%s is granted as shared", ev.ID)
			}
			delete(open, ev.Client)
		case history.KindRenew, history.KindLost, history.KindRead, history.KindWrite:
			if by, ok := asked[id]; !ok || by != ev.Client {
				return fmt.Errorf("%s has not asked for %s", ev.Client, ev.ID)
			}
			if ev.Kind == history.KindRead || ev.Kind == history.KindWrite {
				if seqs[ev.Seq] {
					return fmt.Errorf("two accesses %d", ev.Seq)
				}
				seqs[ev.Seq] = true
			}
		case history.KindDead:
			dead[ev.Worker] = true
		case history.KindEnd:
			if ended {
				return fmt.Errorf("a second end")
			}
			ended = true
		}
	}
	return nil
}

// wellSaid is what it says of one line. In memory, what is zero is missing.
func wellSaid(ev *history.Event) error {
	const last = lb.Instant(1) << 62
	// What stands in fields that a kind does not have is ignored, if it is of its type.
	times := []lb.Instant{ev.At}
	if ev.Kind == history.KindReturn || ev.Kind == history.KindRenew {
		times = append(times, ev.Until)
	}
	if ev.Kind == history.KindSilent || ev.Kind == history.KindRenew {
		times = append(times, ev.Call)
	}
	for _, t := range times {
		if t < 0 || t > last {
			return fmt.Errorf("%d is no time", t)
		}
	}
	var must []bool
	client, lock, id := ev.Client != "", ev.Lock != "", ev.ID != ""
	op := ev.Op == history.OpAcquire || ev.Op == history.OpRelease
	switch ev.Kind {
	case history.KindCall:
		must = []bool{op, client, lock, id}
	case history.KindReturn:
		r := ev.Result
		ofRelease := r == lb.AnswerLost || r == lb.AnswerReleased
		must = []bool{op, client, lock, id, r == lb.AnswerOK || r == lb.AnswerFailed || r == lb.AnswerUnknown || ofRelease && ev.Op == history.OpRelease}
	case history.KindRenew:
		must = []bool{client, lock, id, ev.Until != 0, ev.Call <= ev.At}
	case history.KindLost:
		must = []bool{client, lock, id}
	case history.KindWake:
		must = []bool{client, ev.Name != ""}
	case history.KindRead, history.KindWrite:
		must = []bool{client, lock, id, ev.Seq != 0, ev.Copies != nil}
		if ev.Copies != nil {
			must = append(must, decided(ev.Kind, &ev.Copies.Plain), decided(ev.Kind, &ev.Copies.Checked), decided(ev.Kind, ev.Copies.Fenced))
		}
	case history.KindStep:
		must = []bool{client, id, ev.Name != ""}
	case history.KindSilent:
		must = []bool{ev.Worker != "", ev.Call != 0, ev.Call <= ev.At}
	case history.KindDead:
		must = []bool{ev.Worker != ""}
	case history.KindFault:
		must = []bool{ev.Name != "", ev.Phase == "strike" || ev.Phase == "heal" || ev.Phase == "healed"}
	case history.KindAct:
		must = []bool{ev.Name != "", ev.Target != "", ev.Phase == "begin" || ev.Phase == "end"}
	case history.KindCount:
		must = []bool{ev.Name != "", ev.Target != ""}
	case history.KindFailed:
		must = []bool{client}
	case history.KindEnd:
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

func decided(kind history.Kind, c *history.CopyEffect) bool {
	switch {
	case c == nil:
		return true
	case c.Result == history.NoDecision:
		return kind == history.KindRead
	default:
		// Only "a read of the fenced copy with a lower token ... is refused".
		return c.Result == history.Landed || c.Result == history.Refused || c.Result == history.Skipped
	}
}
