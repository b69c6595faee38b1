package lab

import (
	"strings"
	"testing"
)

// TestOccupiedError: of servers that have only the mark of a run nobody says that they keep something else.
func TestOccupiedError(t *testing.T) {
	for _, c := range []struct {
		err  OccupiedError
		says string
	}{
		{OccupiedError{By: "process 7"}, "marked as in use by a run that goes on or was killed (process 7), and nothing else was found"},
		{OccupiedError{Names: []string{"a"}}, "was killed: a (1 in all)"},
		{OccupiedError{Names: []string{"a", "b", "c", "d"}}, "a, b, c, … (4 in all)"},
	} {
		if got := c.err.Error(); !strings.Contains(got, c.says) {
			t.Errorf("%q, want %q in it", got, c.says)
		}
	}
}
