package checker

import (
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
)

// A change that means nothing must not change the verdict. These tests need no
// second opinion: each compares the check with itself.

// TestShiftedTime: when the run happened does not matter.
func TestShiftedTime(t *testing.T) {
	for seed := range uint64(20_000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		ops := randomOps(rng)
		by := lb.Instant(rng.Int64N(1 << 40))
		shifted := slices.Clone(ops)
		for i := range shifted {
			if shifted[i].Call += by; shifted[i].Return < Forever {
				shifted[i].Return += by
			}
		}
		a, b := Grant(ops, 1), Grant(shifted, 1)
		for i := range a.Witness {
			a.Witness[i].At += by
		}
		if !slices.Equal(a.Witness, b.Witness) || !slices.EqualFunc(a.Violations, b.Violations, sameViolation) {
			t.Fatalf("seed %d, shifted by %d: %+v, was %+v\n%+v", seed, by, b, a, ops)
		}
	}
}

func sameViolation(a, b Violation) bool { return a.What == b.What && slices.Equal(a.Ops, b.Ops) }

// TestRenumbered: acquisitions, locks and the order of operations are only names.
func TestRenumbered(t *testing.T) {
	for seed := range uint64(20_000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		ops := randomOps(rng)
		ids := rng.Perm(len(ops))
		renamed := slices.Clone(ops)
		for i := range renamed {
			renamed[i].ID, renamed[i].Lock = int32(ids[renamed[i].ID]), 1-renamed[i].Lock
		}
		rng.Shuffle(len(renamed), func(i, j int) { renamed[i], renamed[j] = renamed[j], renamed[i] })
		a, b := Grant(ops, 1), Grant(renamed, 1)
		if (a.Count == 0) != (b.Count == 0) || b.Err != nil {
			t.Fatalf("seed %d: %+v, was %+v\n%+v", seed, b, a, ops)
		}
		if b.Count == 0 {
			if err := Verify(renamed, b.Witness, 1); err != nil {
				t.Fatalf("seed %d: %v\n%+v", seed, err, renamed)
			}
		}
	}
}

// TestInterleavedLocks: what happens to one lock says nothing of another.
func TestInterleavedLocks(t *testing.T) {
	for seed := range uint64(20_000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		one, other := randomOps(rng), randomOps(rng)
		want := Grant(one, 1).Count + Grant(other, 1).Count
		ids, locks := int32(len(one)), int32(2)
		var both []Op
		for len(one)+len(other) > 0 {
			if len(other) == 0 || len(one) > 0 && rng.IntN(2) == 0 {
				both, one = append(both, one[0]), one[1:]
				continue
			}
			op := other[0]
			op.ID, op.Lock = op.ID+ids, op.Lock+locks
			if op.Order > 0 { // they are other clients
				op.Client, op.Order = op.Client+100, op.Order+100
			}
			both, other = append(both, op), other[1:]
		}
		if got := Grant(both, 1); got.Count != want || got.Err != nil {
			t.Fatalf("seed %d: %d violations, apart %d\n%+v", seed, got.Count, want, both)
		}
	}
}

// TestResolvedUnknowns: a legal history stays legal when every unknown outcome turns
// out to be what its witness says.
func TestResolvedUnknowns(t *testing.T) {
	resolved := 0
	for seed := range uint64(20_000) {
		ops := randomOps(rand.New(rand.NewPCG(seed, 1)))
		res := Grant(ops, 1)
		if res.Count > 0 {
			continue
		}
		known := slices.Clone(ops)
		for i := range known {
			if op := &known[i]; op.Result == Unknown && op.Kind != Expire {
				op.Result, op.Return = Fail, op.Call
				resolved++
			}
		}
		for _, p := range res.Witness {
			if op := &known[p.Op]; ops[p.Op].Result == Unknown {
				op.Kind = min(op.Kind, Release) // a lease that ran out is a release by somebody else
				op.Result, op.Return = OK, p.At
				op.Client, op.Order = 0, 0 // who called it did not know
			}
		}
		again := Grant(known, 1)
		if again.Count > 0 || again.Err != nil {
			t.Fatalf("seed %d: %+v\n%+v\nwas %+v", seed, again, known, ops)
		}
		if err := Verify(known, again.Witness, 1); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	if resolved < 5000 {
		t.Errorf("only %d unknown outcomes were resolved: the generator is lopsided", resolved)
	}
}

// TestShiftedAndRenamedRuns says the same of whole runs: every sentence stays.
func TestShiftedAndRenamedRuns(t *testing.T) {
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(files) < 8 {
		t.Fatalf("only %d histories under testdata: %v", len(files), err)
	}
	client := regexp.MustCompile(`\bw(\d)`)
	rename := func(s string) string { return client.ReplaceAllString(s, "host-$1") }
	for _, file := range files {
		plan := readPlan(t, strings.TrimSuffix(file, ".jsonl")+".plan.json")
		h := readHistory(t, file)
		want := rename(render(judge(plan, h)))
		for i := range h {
			for _, at := range []*lb.Instant{&h[i].At, &h[i].Until, &h[i].Call} {
				if *at != 0 {
					*at += 1e15
				}
			}
			for _, s := range []*string{&h[i].Client, &h[i].Worker, &h[i].Note, &h[i].ID} {
				*s = rename(*s)
			}
		}
		if got := render(judge(plan, h)); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", file, got, want)
		}
	}
}
