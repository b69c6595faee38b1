package cli

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/testkit"
)

// TestDumbTerminal: neither colours nor the moves of a cursor go where nobody can see them.
func TestDumbTerminal(t *testing.T) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		testkit.Need(t, "a terminal that a test can make", err)
	}
	defer terminal.Close()
	for set, want := range map[string]bool{"TERM=xterm": true, "TERM=dumb": false, "NO_COLOR=1": false} {
		t.Run(set, func(t *testing.T) {
			t.Setenv("TERM", "xterm")
			t.Setenv("NO_COLOR", "")
			name, value, _ := strings.Cut(set, "=")
			t.Setenv(name, value)
			if color, _ := screen(terminal); color != want {
				t.Errorf("colours: %v, want %v", color, want)
			}
		})
	}
}

// TestJobs: as many runs at a time as the processors carry, and not more than a laptop does.
func TestJobs(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for processors, want := range map[int]int{1: 2, 2: 4, 4: 8, 64: 12} {
		runtime.GOMAXPROCS(processors)
		if got := atOnceHere(); got != want {
			t.Errorf("%d processors: %d runs, want %d", processors, got, want)
		}
	}
}
