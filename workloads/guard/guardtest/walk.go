// Package guardtest is the test of every database that keeps the protected store's fenced copy.
package guardtest

import (
	"slices"
	"testing"

	"github.com/lockbench/lockbench/workloads/guard"
)

// Walk takes two holders through a database that is empty, the second of which overtakes the
// first, by reading only.
func Walk(t *testing.T, k guard.Database, addr string) {
	t.Helper()
	g, err := k.Open(t.Context(), addr)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	for i, step := range []struct {
		doc    string
		claims []guard.Claim
		want   []int64 // nil: refused
	}{
		{"the first holder reads", []guard.Claim{read("a", 9)}, []int64{100}},
		{"and writes", []guard.Claim{write("a", 9, 90)}, []int64{100}},
		{"the next one reads", []guard.Claim{read("a", 10)}, []int64{90}},
		{"so the first one's write is late", []guard.Claim{write("a", 9, 80)}, nil},
		{"and its read", []guard.Claim{read("a", 9)}, nil},
		{"the next one finds what the first had written in time", []guard.Claim{write("a", 10, 70)}, []int64{90}},
		{"the same value again is a write, too", []guard.Claim{write("a", 10, 70)}, []int64{70}},
		{"of two records one is late", []guard.Claim{write("b", 3, 1), write("a", 9, 1)}, nil},
		{"so the other is not touched", []guard.Claim{read("b", 1)}, []int64{100}},
		{"two records at once", []guard.Claim{write("b", 3, 5), write("a", 11, 6)}, []int64{100, 70}},
		{"and both are written", []guard.Claim{read("a", 1<<53), read("b", 1<<53)}, []int64{6, 5}},
	} {
		got, admitted, err := g.Admit(t.Context(), step.claims)
		if err != nil {
			t.Fatalf("%d, %s: %v", i, step.doc, err)
		}
		if admitted != (step.want != nil) || !slices.Equal(got, step.want) {
			t.Errorf("%d, %s: %v, admitted %v; want %v", i, step.doc, got, admitted, step.want)
		}
	}
}

func read(record string, token uint64) guard.Claim {
	return guard.Claim{Record: record, Token: token, First: 100}
}

func write(record string, token uint64, value int64) guard.Claim {
	return guard.Claim{Record: record, Token: token, First: 100, New: &value}
}
