package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// TestWritable: a file for a CI may lie in the directory that the runs make, and nowhere else that is not there.
// Looking leaves nothing.
func TestWritable(t *testing.T) {
	t.Chdir(t.TempDir())
	full, err := filepath.Abs("shard-1")
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []struct {
		made, file string
		ok         bool
	}{
		{"shard-1", "shard-1/locks.xml", true},
		{"./shard-1/", full + "/locks.xml", true},
		{"deep/shard-1", "deep/shard-1/locks.xml", true},
		{"shard-1", "shard-2/locks.xml", false},
		{"shard-1", "shard-1/ci/locks.xml", false}, // which no run makes
		{"", "shard-1/locks.xml", false},
		{"/proc/shard-1", "/proc/shard-1/locks.xml", false},
	} {
		for _, o := range []outputs{{junit: w.file}, {csv: w.file}, {summary: w.file}} {
			if err := o.writable(w.made); (err == nil) != w.ok {
				t.Errorf("--out %q, %+v: %v", w.made, o, err)
			}
		}
	}
	if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
	}
}
