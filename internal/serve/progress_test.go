package serve

import (
	"strings"
	"testing"
)

// TestProgress: a number and its noun agree; more than was planned is no part of it.
func TestProgress(t *testing.T) {
	var e entry
	for _, n := range [][2]int{{0, 1}, {1, 3}, {1, 1}, {5, 3}} {
		e.progress(n[0], n[1], "run")
	}
	if got, want := strings.Join(e.Progress, "; "), "0 of 1 run; 1 of 3 runs; 1 run; 5 runs"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
