package locktest

import (
	"errors"
	"testing"

	"github.com/lockbench/lockbench/impls/conform"
)

// TestTried: only a busy machine is a reason to do a check again, and not for ever.
func TestTried(t *testing.T) {
	for name, tc := range map[string]struct {
		fails, done int
		busy, ok    bool
		deviates    string
	}{
		"passes":                             {0, 1, true, true, ""},
		"fails, and nothing else to blame":   {1, 1, false, false, ""},
		"fails on a busy machine":            {1, 2, true, true, ""},
		"fails on it each time":              {9, 3, true, false, ""},
		"fails as it is said to":             {9, 1, true, true, "why"},
		"passes, although said to fail":      {0, 3, true, false, "why"},
		"passes so, and nothing is to blame": {0, 1, false, false, "why"},
	} {
		done := 0
		r := tried(func(again bool) conform.Result {
			if again != (done > 0) {
				t.Errorf("%s: again %v, after %d", name, again, done)
			}
			done++
			r := conform.Result{Deviates: tc.deviates}
			if done <= tc.fails {
				r.Err = errors.New("late")
			}
			return r
		}, func(conform.Result) bool { return tc.busy })
		if done != tc.done || r.OK() != tc.ok {
			t.Errorf("%s: done %d times, and OK is %v; want %d and %v", name, done, r.OK(), tc.done, tc.ok)
		}
	}
}
