package cli

import (
	"strings"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// TestFaults holds the faults of servers, networks and clocks to what is known of
// them: the documented failures happen, for the documented reason, and the locks
// that are known to survive them do.
func TestFaults(t *testing.T) {
	needLab(t)
	for _, c := range []struct {
		algorithm, topology string
		want                map[string][]lb.Outcome // by fault; a double grant where it says BROKEN
	}{
		{"redis-setpx-lua", "redis-sentinel", map[string][]lb.Outcome{"failover-unreplicated": {lb.Broken}}},
		{"redis-fenced", "redis-sentinel", map[string][]lb.Outcome{"failover-unreplicated": {lb.Broken}}}, // tokens repeat
		{"redis-setpx-lua", "redis", map[string][]lb.Outcome{"server-clock": {lb.Broken}}},
		{"redis-setnx-getset", "redis", map[string][]lb.Outcome{"client-clock": {lb.Broken}}},
		{"redlock", "redis-5", map[string][]lb.Outcome{
			"cut-two+restart-empty": {lb.Broken}, "cut-two+server-clock": {lb.Broken}, "kill-two": {lb.Safe}}},
		{"redlock-restart-delay", "redis-5-delayed", map[string][]lb.Outcome{"cut-two+restart-empty": {lb.Safe}}},
		{"zk-sequential", "zookeeper-3", map[string][]lb.Outcome{
			"kill-leader": {lb.Safe, lb.Check}, "cut-leader": {lb.Safe, lb.Check}, "pause-leader": {lb.Safe, lb.Check}}},
		{"etcd-lease", "etcd-3", map[string][]lb.Outcome{
			"kill-leader": {lb.Safe, lb.Check}, "cut-leader": {lb.Safe, lb.Check}, "pause-leader": {lb.Safe, lb.Check}}},
		{"zk-sequential", "zookeeper", map[string][]lb.Outcome{"server-clock": {lb.Safe}}},
		{"etcd-lease", "etcd", map[string][]lb.Outcome{"server-clock": {lb.Safe}}},
		{"mysql-forupdate", "mariadb-replica", map[string][]lb.Outcome{"failover": {lb.Broken}}},
	} {
		t.Run(c.algorithm+" on "+c.topology, func(t *testing.T) {
			var faults []string
			for f := range c.want {
				faults = append(faults, f)
			}
			got := cells(t, lockbench(t, t.TempDir(), "matrix", "--json", "--topology", c.topology,
				"--algorithms", c.algorithm, "--faults", strings.Join(faults, ","), "--jobs", "3"), exitKept)
			for fault, want := range c.want {
				wanted(t, got[c.algorithm+" × "+fault], want)
			}
		})
	}
}

// wanted compares a cell with the outcomes that it may have.
func wanted(t *testing.T, c checker.Cell, outcomes []lb.Outcome) {
	t.Helper()
	for _, o := range outcomes {
		if c.Outcome == o {
			if o == lb.Broken && !strings.HasPrefix(c.Reason, lb.DoubleGrant) {
				t.Errorf("%s × %s: BROKEN by %q, want a double grant", c.Algorithm, c.Fault, c.Reason)
			}
			if c.Effect == "" {
				t.Errorf("%s × %s: no effect was measured", c.Algorithm, c.Fault)
			}
			return
		}
	}
	t.Errorf("%s × %s: %s (%s; %s), want one of %v", c.Algorithm, c.Fault, c.Outcome, c.Reason, c.Effect, outcomes)
}

// TestFirst stops a long run of a lock that is none long before its end.
func TestFirst(t *testing.T) {
	needLab(t)
	start := time.Now()
	cmd := lockbench(t, t.TempDir(), "run", "--json", "--algorithm", "none", "--fault", "none", "--duration", "60s", "--first")
	wanted(t, withEffect(cells(t, cmd, exitKept)["none × none"]), []lb.Outcome{lb.Broken})
	if d := time.Since(start); d > 20*time.Second {
		t.Errorf("a run that is to stop at the first violation took %v", d)
	}
}

// withEffect is for runs without a fault, which has no effect to be measured.
func withEffect(c checker.Cell) checker.Cell {
	c.Effect = "no fault"
	return c
}
