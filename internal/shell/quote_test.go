package shell

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestLine pastes words into a shell, which must read them as they were.
func TestLine(t *testing.T) {
	words := []string{"lockbench", "pause@before-write/0.7ttl", "client-clock:back", "cut-two+server-clock", "", "a b", "it's", "$HOME", "~", "*", "a\nb", `\`, `"`, "#", "é", "!x", "a=b;c"}
	out, err := exec.Command("sh", "-c", `for w in "$@"; do printf '%s\0' "$w"; done; `+"set -- "+Line(words...)+`; for w in "$@"; do printf '%s\0' "$w"; done`).Output()
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if !slices.Equal(got, words) {
		t.Errorf("%q, want %q", got, words)
	}
	if line := Line("run", "--fault", "pause@before-write"); line != "run --fault pause@before-write" {
		t.Errorf("needless quotes: %s", line)
	}
}
