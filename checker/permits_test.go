package checker

import (
	"testing"

	lb "github.com/lockbench/lockbench"
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
