package checker

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// TestAllSmallHistories puts to the exact check every history of up to four acquisitions, each of a few simple lives in a few
// instants, of locks of one, two and three permits, and compares it with the plainest judge: one that tries all orders.
func TestAllSmallHistories(t *testing.T) {
	all := lives()
	illegal, total := [4]int{}, 0
	var try func(ops []Op, from, left int)
	try = func(ops []Op, from, left int) {
		for permits := 1; permits <= 3; permits++ {
			total++
			got, want := Grant(ops, permits), legal(ops, permits)
			if got.Err != nil || (got.Count == 0) != want {
				t.Fatalf("%d permits: legal is %v, Grant found %+v, %v\n%+v", permits, want, got.Violations, got.Err, ops)
			}
			if want {
				if err := Verify(ops, got.Witness, permits); err != nil {
					t.Fatalf("%d permits: %v\n%+v", permits, err, ops)
				}
			} else {
				illegal[permits]++
			}
		}
		for i := from; i < len(all) && left > 0; i++ {
			more := ops[:len(ops):len(ops)]
			for _, op := range all[i] {
				op.ID = int32(4 - left)
				more = append(more, op)
			}
			try(more, i, left-1)
		}
	}
	try(nil, 0, 4)
	t.Logf("%d histories, illegal with 1, 2 and 3 permits: %v", total, illegal[1:])
	if illegal[3] == 0 || illegal[2] <= illegal[3] || illegal[1] <= illegal[2] {
		t.Error("too few are illegal")
	}
}

// lives are those of one acquisition between the instants 0 and 2: an acquire that was granted, or whose outcome is not known, and
// a release that ended it, that found it lost, or none.
func lives() (all [][]Op) {
	const last = 2
	for call := lb.Instant(0); call <= last; call++ {
		for back := call; back <= last; back++ {
			granted := Op{Call: call, Return: back}
			all = append(all, []Op{granted})
			if back == last { // the outcome is not known, and there are fewer of them
				all = append(all, []Op{{Call: call, Return: Forever, Result: Unknown}, {Kind: Release, Call: call, Return: last}})
			}
			for from := back; from <= last; from++ {
				all = append(all, []Op{granted, {Kind: Release, Call: from, Return: last, After: true}})
				if from == last {
					all = append(all, []Op{granted, {Kind: Expire, Call: from - 1, Return: Forever, Result: Unknown}, {Kind: Release, Call: back, Return: from, Result: Lost, After: true}})
				}
			}
		}
	}
	return all
}

// legal tries all orders.
func legal(ops []Op, permits int) bool {
	type state struct{ done, held uint64 }
	dead := map[state]bool{}
	var from func(s state, now lb.Instant) bool
	from = func(s state, now lb.Instant) bool {
		left := false
		for i, op := range ops {
			if s.done&(1<<i) == 0 && op.definite() {
				left = true
				if op.Return < now {
					return false
				}
			}
		}
		if !left || dead[s] {
			return !left
		}
		for i, op := range ops {
			self, taken := uint64(1)<<op.ID, false
			if s.done&(1<<i) != 0 || op.Return < now {
				continue
			}
			held := 0
			for k, other := range ops {
				if other.ID == op.ID && other.Kind == Acquire {
					taken = s.done&(1<<k) != 0
				}
				if other.Kind == Acquire && s.held&(1<<other.ID) != 0 {
					held++
				}
			}
			next := s.held &^ self
			switch {
			case op.Kind == Acquire && held >= permits:
				continue
			case op.Kind == Acquire:
				next = s.held | self
			case op.After && !taken:
				continue
			case op.Result == Lost && s.held&self != 0, op.Result != Lost && s.held&self == 0:
				continue
			}
			if from(state{s.done | 1<<i, next}, max(now, op.Call)) {
				return true
			}
		}
		dead[s] = true
		return false
	}
	return from(state{}, 0)
}

// TestVerifierCountsPermits: a witness in which one more holds than may is none.
func TestVerifierCountsPermits(t *testing.T) {
	ops := []Op{{Call: 1, Return: 9, ID: 0}, {Call: 1, Return: 9, ID: 1}, {Call: 1, Return: 9, ID: 2}}
	w := Witness{{At: 2, Op: 0}, {At: 3, Op: 1}, {At: 4, Op: 2}}
	for permits, accepted := range map[int]bool{1: false, 2: false, 3: true, 4: true} {
		if err := Verify(ops, w, permits); (err == nil) != accepted {
			t.Errorf("%d permits: %v", permits, err)
		}
	}
}

// TestSemaphoreOfOthers: what a semaphore has not, no history of one has.
func TestSemaphoreOfOthers(t *testing.T) {
	for _, op := range []Op{{Shared: true}, {Owner: 1}} {
		if res := Grant([]Op{op}, 2); res.Err == nil {
			t.Errorf("%+v is judged", op)
		}
		if res := Grant([]Op{op}, 1); res.Err != nil || res.Count > 0 {
			t.Errorf("%+v: %+v", op, res)
		}
	}
}

// TestMissingPermit: who waits for a permit that does not come back is named, and of the others nobody who gave theirs back.
func TestMissingPermit(t *testing.T) {
	plan := history.Plan{Traits: lb.Traits{Permits: 2}}
	s := tell(plan).busy(10, 2).granted("w1.c0", "g", 30, 40, 500).fault(50, 60, true).granted("w2.c0", "h", 100, 101, 0).
		acquire("w3.c0", "x", 700, 11900, history.Event{}).
		release("w2.c0", "h", 11850, 11851, lb.AnswerOK).release("w3.c0", "x", 12000, 12001, lb.AnswerOK).end(12100)
	slices.SortStableFunc(s.events, func(a, b history.Event) int { return cmp.Compare(a.At, b.At) })
	l := layerOf(s.check(), LayerProgress)
	if l.Verdict != Invalid || !strings.HasPrefix(l.Summary, "not all of the 2 permits of ") {
		t.Fatalf("%+v", l)
	}
	f := l.Findings[0]
	if strings.Join(f.IDs, " ") != "g" || !strings.Contains(f.Sentence, "although w3.c0 asked") {
		t.Errorf("%+v", f)
	}
}

// TestUnfairSemaphore: one whose grant is on its way does not hide the others that wait.
func TestUnfairSemaphore(t *testing.T) {
	s := tell(history.Plan{Traits: lb.Traits{Permits: 2, Fair: true}})
	s.acquire("w9.c0", "x", 10, 9000, history.Event{})
	for i := range 8 { // who asked first hears of its grant right after one that asked late
		client, early, late, from := fmt.Sprintf("w%d.c1", i), fmt.Sprint("e", i), fmt.Sprint("l", i), 100*i
		s.acquire(client, early, i, from+82, history.Event{}).acquire("w2.c0", late, from+50, from+80, history.Event{})
		s.release(client, early, from+90, from+91, lb.AnswerOK).release("w2.c0", late, from+92, from+93, lb.AnswerOK)
	}
	s.end(9100)
	slices.SortStableFunc(s.events, func(a, b history.Event) int { return cmp.Compare(a.At, b.At) })
	if l := layerOf(s.check(), LayerFair); l.Verdict != Invalid {
		t.Errorf("%+v", l)
	}
}

// TestSlowSemaphore: one whose permits nobody has all at once is right, if whoever asks is granted one soon.
func TestSlowSemaphore(t *testing.T) {
	s := tell(history.Plan{Traits: lb.Traits{Permits: 2}}).busy(10, 2).fault(50, 60, true)
	for i := range 20 { // the next asks before this one is granted its own, and is granted it after this one gave it back
		client, id, from := fmt.Sprintf("w%d.c0", i%3), fmt.Sprint("s", i), 1000+700*i
		s.acquire(client, id, from, from+800, history.Event{}).release(client, id, from+801, from+802, lb.AnswerOK)
	}
	slices.SortStableFunc(s.events, func(a, b history.Event) int { return cmp.Compare(a.At, b.At) })
	res := s.end(15200).check()
	if l := layerOf(res, LayerProgress); l.Verdict != Valid || res.Outage != "" {
		t.Errorf("%s: %+v", res.Outage, l)
	}
}
