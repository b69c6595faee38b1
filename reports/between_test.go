package reports

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/rundir"
)

// TestBetween: two locks stand to each other under each fault as their cells say, and their costs
// as they were measured, not in terms of the servers' own.
func TestBetween(t *testing.T) {
	cell := func(lock, fault string, o lb.Outcome, how, promise string, hurt int) checker.Cell {
		return checker.Cell{Algorithm: lock, Fault: fault, Outcome: o, Mechanism: how, Promise: promise, Runs: 2, Violations: hurt}
	}
	a, b := "redis-setpx-lua", "redis-fenced"
	bench, _ := compareBenches()
	bench.Noise = []string{"a neighbour"}
	of := rundir.Saved{Bench: bench, Cells: []checker.Cell{
		cell(a, "better", lb.Broken, lb.DoubleGrant, checker.PromiseKept, 2), cell(b, "better", lb.Fence, "overstay", checker.PromiseBroken, 1),
		cell(a, "worse", lb.Check, "overstay", "", 2), cell(b, "worse", lb.Check, lb.DoubleGrant, "", 2),
		cell(a, "otherwise", lb.Broken, "overstay", "", 2), cell(b, "otherwise", lb.Broken, "early release", "", 2),
		cell(a, "mixed", lb.Broken, "overstay", "", 2), cell(b, "mixed", lb.Check, lb.DoubleGrant, "", 2),
		cell(a, "same", lb.Safe, "", checker.PromiseKept, 0), cell(b, "same", lb.Safe, "", checker.PromiseBroken, 0),
		cell(a, "open", lb.Safe, "", "", 0), cell(b, "open", lb.Inconclusive, "", "", 0),
		cell(a, "alone", lb.Safe, "", "", 0), cell(b, "too", lb.Safe, "", "", 0),
		cell(a, "never", lb.NotAvailable, "", "", 0), cell(b, "never", lb.NotAvailable, "", "", 0),
		cell("another", "better", lb.Stuck, "", "", 2),
	}}
	v, err := CompareLocks(a, b, "runs/m", of, .1)
	if err != nil {
		t.Fatal(err)
	}
	var text, md bytes.Buffer
	if err := v.Terminal(&text, false, 120); err != nil {
		t.Fatal(err)
	}
	if err := v.Markdown(&md); err != nil {
		t.Fatal(err)
	}
	if want := "redis-fenced is better in 1 cell, worse in 1 cell, hurt in another way in 2 cells, the same in 1 cell, not to be compared in 3 cells."; v.Summary() != want {
		t.Errorf("%q", v.Summary())
	}
	for _, want := range []string{
		`better under\n.*\n  better +BROKEN double grant 2/2 +FENCE overstay 1/2\n`,
		`worse under\n.*\n  worse +CHECK overstay 2/2 +CHECK double grant 2/2\n`,
		`(?m)neither is better.*\n.*\n  otherwise .*\n  mixed `,
		`The same under\n.*\n  same +SAFE 0/2 +SAFE 0/2\n`,
		`\n  open +SAFE 0/2 +INCONCLUSIVE\n`,
		`\n  alone +SAFE 0/2 +not tried\n  too +not tried +SAFE 0/2\n`,
		`\n  acquire and release, alone, memory +122 µs +184 µs +×1\.50`,
		`The machine was not quiet, .*: a neighbour\.`,
		`\n  outage after a death, alone, disk +1\.80 s +1\.80 s +the same in every round\n`,
	} {
		if !regexp.MustCompile(want).MatchString(text.String()) {
			t.Errorf("no %q in\n%s", want, &text)
		}
	}
	if strings.Contains(text.String(), "  never") || strings.Contains(text.String(), "STUCK") {
		t.Errorf("more than the two can tell:\n%s", &text)
	}
	if want := "| better | BROKEN double grant 2/2 | FENCE overstay 1/2 |"; !strings.Contains(md.String(), want) {
		t.Errorf("no %q in\n%s", want, &md)
	}
	if _, err := CompareLocks(a, "redis-fence", "runs/m", of, .1); err == nil || !strings.Contains(err.Error(), "did you mean redis-fenced") {
		t.Errorf("%v", err)
	}
}

// TestFactor: a lock that is a thousand times as slow is not infinitely slow.
func TestFactor(t *testing.T) {
	for ratio, want := range map[float64]string{1552: "×1552", 12.84: "×12.8", 1.5: "×1.50", .16: "×0.16", .00103: "×0.0010", .000001: "×0"} {
		if got := factor(ratio); got != want {
			t.Errorf("%v: %s, want %s", ratio, got, want)
		}
	}
}
