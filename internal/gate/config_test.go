package gate

import (
	"slices"
	"testing"

	lb "github.com/lockbench/lockbench"
)

// TestExpect: the first promise that matches counts more than what the lock declares, and
// that more than what is required of what declares nothing.
func TestExpect(t *testing.T) {
	c, err := Parse("c.yaml", []byte(`
require: CHECK
promises:
  - {algorithm: redis-*, fault: pause-holder, outcomes: [BROKEN], reason: double grant}
  - {algorithm: redis-*, fault: kill-holder, outcomes: [BROKEN], reason: deadlock}
  - {fault: pause-*, require: FENCE}
`))
	if err != nil {
		t.Fatal(err)
	}
	own := &lb.Expectation{Fault: "*", Outcomes: []lb.Outcome{lb.Stuck}}
	for _, w := range []struct {
		algorithm, fault string
		declared         *lb.Expectation
		n                int
		outcomes         []lb.Outcome
	}{
		{"redis-a", "pause-holder", own, 0, []lb.Outcome{lb.Broken}},
		{"redis-a", "kill-holder", own, 1, []lb.Outcome{lb.Broken}},
		{"redis-a", "pause-client", own, 2, []lb.Outcome{lb.Safe, lb.Check, lb.Fence}},
		{"etcd", "pause-holder", nil, 2, []lb.Outcome{lb.Safe, lb.Check, lb.Fence}},
		{"etcd", "none", own, -1, []lb.Outcome{lb.Stuck}},
		{"etcd", "none", nil, -1, []lb.Outcome{lb.Safe, lb.Check}},
	} {
		e, n := c.Expect(w.algorithm, w.fault, w.declared)
		if n != w.n || e == nil || !slices.Equal(e.Outcomes, w.outcomes) {
			t.Errorf("%s under %s: %+v by promise %d, want %v by %d", w.algorithm, w.fault, e, n, w.outcomes, w.n)
		}
	}
	if e, n := (Config{}).Expect("etcd", "none", nil); e != nil || n != -1 {
		t.Errorf("of nothing comes %+v", e)
	}
}
