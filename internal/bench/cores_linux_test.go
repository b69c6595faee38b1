package bench

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestConfine: what a process starts runs where it does itself.
func TestConfine(t *testing.T) {
	all := available()
	if len(all) == 0 {
		t.Fatal("no core is known")
	}
	if os.Getenv("LOCKBENCH_TEST_CONFINE") == "" { // all of a process is confined: so it is one of its own
		cmd := exec.Command(os.Args[0], "-test.run=^TestConfine$")
		cmd.Env = append(os.Environ(), "LOCKBENCH_TEST_CONFINE=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return
	}
	last := all[len(all)-1:]
	if err := confine(last); err != nil {
		t.Fatal(err)
	}
	if now := available(); !slices.Equal(now, last) {
		t.Errorf("it runs on %v, want %v", now, last)
	}
	want, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	got, err := exec.Command("cat", "/proc/self/status").Output()
	line := func(status []byte) string {
		_, rest, _ := strings.Cut(string(status), "Cpus_allowed_list:")
		list, _, _ := strings.Cut(rest, "\n")
		return list
	}
	if err != nil || line(got) != line(want) {
		t.Errorf("a child runs on %s, want %s; %v", line(got), line(want), err)
	}
}

// TestHalves: each core has one side, and both sides have some.
func TestHalves(t *testing.T) {
	all := available()
	if len(all) < 2 {
		t.Log("one core has no halves")
		return
	}
	one, other := halves(all)
	if both := slices.Sorted(slices.Values(slices.Concat(one, other))); len(one) == 0 || len(other) == 0 || !slices.Equal(both, all) {
		t.Errorf("%v and %v, of %v", one, other, all)
	}
}
