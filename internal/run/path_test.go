package run_test

import (
	"testing"

	lb "github.com/lockbench/lockbench"
)

// TestPathOfTheUser: what stands for a server's address in its command stands for
// nothing in the name of a directory.
func TestPathOfTheUser(t *testing.T) {
	t.Parallel()
	res, _, err := doIn(t, t.TempDir()+"/{addr}:{port} in {dir}", setpx, "none", counter, nil)
	if err != nil || res.Outcome != lb.Safe {
		t.Errorf("%s (%s), %v", res.Outcome, res.Reason, err)
	}
}
