package checker

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestVerifyRejects damages good witnesses in every way that a mistake of the
// check could, and wants each to be noticed.
func TestVerifyRejects(t *testing.T) {
	//     0: a holds 2..6; 1: asked for with unknown outcome, released 7..8; 2: lost 9
	ops := []Op{
		{Call: 1, Return: 2, ID: 0, Kind: Acquire}, {Call: 6, Return: 7, ID: 0, Kind: Release},
		{Call: 3, Return: Forever, ID: 1, Kind: Acquire, Result: Unknown}, {Call: 7, Return: 8, ID: 1, Kind: Release},
		{Call: 9, Return: 9, ID: 0, Kind: Release, Result: Lost}, {Call: 4, Return: 5, ID: 2, Kind: Acquire, Result: Fail},
		{Call: 10, Return: 11, ID: 3, Kind: Acquire}, {Call: 12, Return: 13, ID: 3, Kind: Release},
	}
	good := Grant(ops, 1).Witness
	if err := Verify(ops, good, 1); err != nil || len(good) != 7 {
		t.Fatalf("%v: %v", good, err)
	}
	at := func(op int32) int { return slices.IndexFunc(good, func(p Point) bool { return p.Op == op }) }
	tests := []struct {
		name   string
		damage func(Witness) Witness
	}{
		{"a point is missing", func(w Witness) Witness { return slices.Delete(w, at(0), at(0)+1) }},
		{"a lost release is missing", func(w Witness) Witness { return slices.Delete(w, at(4), at(4)+1) }},
		{"a point appears twice", func(w Witness) Witness { return append(w, w[at(7)]) }},
		{"a point lies before its call", func(w Witness) Witness { w[at(0)].At = 0; return w }},
		{"a point lies after its return", func(w Witness) Witness { w[at(7)].At = 14; return w }},
		{"time goes backwards", func(w Witness) Witness { w[at(0)], w[at(1)] = w[at(1)], w[at(0)]; return w }},
		{"released before it was taken", func(w Witness) Witness {
			i := at(2)
			w[i], w[i+1] = w[i+1], w[i]
			return w
		}},
		{"taken while it is held", func(w Witness) Witness {
			p := w[at(2)]
			p.At = 4
			w = slices.Delete(w, at(2), at(2)+1)
			return slices.Insert(w, at(0)+1, p)
		}},
		{"a failed operation takes effect", func(w Witness) Witness { return slices.Insert(w, at(1), Point{At: 5, Op: 5}) }},
		{"no such operation", func(w Witness) Witness { return append(w, Point{At: 20, Op: 99}) }},
		{"nothing at all", func(Witness) Witness { return nil }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := Verify(ops, tt.damage(slices.Clone(good)), 1); err == nil {
				t.Error("the verifier accepts it")
			}
		})
	}
}

// TestVerifyAgainstIllegal feeds the verifier random orders of illegal histories:
// none can be right.
func TestVerifyAgainstIllegal(t *testing.T) {
	tried := 0
	for seed := uint64(0); seed < 2000; seed++ {
		rng := rand.New(rand.NewPCG(seed, 1))
		ops := randomOps(rng)
		if Grant(ops, 1).Count == 0 {
			continue
		}
		for range 20 {
			var w Witness
			for i, op := range ops {
				if op.definite() || op.Result == Unknown && rng.IntN(2) == 0 {
					w = append(w, Point{At: op.Call + (min(op.Return, 60)-op.Call)/2, Op: int32(i)})
				}
			}
			slices.SortStableFunc(w, func(a, b Point) int { return int(a.At - b.At) })
			tried++
			if Verify(ops, w, 1) == nil {
				t.Fatalf("seed %d: the verifier accepts an order of an illegal history: %v\n%+v", seed, w, ops)
			}
		}
	}
	if tried < 1000 {
		t.Fatalf("only %d orders were tried", tried)
	}
}

func TestGrantRefusesWhatItCannotJudge(t *testing.T) {
	tests := map[string][]Op{
		"an id used twice":          {{Call: 1, Return: 2}, {Call: 3, Return: 4}},
		"a return before its call":  {{Call: 3, Return: 2}},
		"a negative acquisition":    {{Call: 1, Return: 2, ID: -1}},
		"a lock that has no number": {{Call: 1, Return: 2, Lock: -1}},
	}
	for name, ops := range tests {
		if res := Grant(ops, 1); res.Err == nil {
			t.Errorf("%s: judged as %+v", name, res)
		}
	}
}
