package cli

import (
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// TestWhose: what only the program does is its own, and what a correct lock there does, too, is not.
func TestWhose(t *testing.T) {
	var cells []checker.Cell
	for fault, o := range map[string][2]lb.Outcome{
		"none": {lb.Safe, lb.Safe}, "pause": {lb.Broken, lb.Check}, "kill": {lb.Stuck, lb.Safe}, "failover": {lb.Broken, lb.Broken},
		"milder": {lb.Check, lb.Broken}, "open": {lb.Broken, lb.Inconclusive}, "absent": {lb.Inconclusive, lb.Safe},
	} {
		cells = append(cells, checker.Cell{Algorithm: "mine", Fault: fault, Outcome: o[0]}, checker.Cell{Algorithm: "good", Fault: fault, Outcome: o[1]})
	}
	var b strings.Builder
	tellWhose(&b, "mine", "good", cells)
	for _, want := range []string{
		"mine × pause: BROKEN, and good, a correct lock on such servers, is CHECK there: look first at what yours does worse",
		"mine × kill: STUCK, and good, a correct lock on such servers, is SAFE there: look at yours first",
		"mine × failover: BROKEN, and good, a correct lock on such servers, is BROKEN there, too: it is no mistake of yours alone",
		"mine × milder: CHECK, and good, a correct lock on such servers, is BROKEN there, too: it is no mistake of yours alone",
	} {
		if !strings.Contains(b.String(), want+"\n") {
			t.Errorf("lacks %q", want)
		}
	}
	if n := strings.Count(b.String(), "\n"); n != 4 {
		t.Errorf("%d lines:\n%s", n, &b)
	}
}
