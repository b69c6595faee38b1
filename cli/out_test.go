package cli

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/lockbench/lockbench/internal/testkit"
)

// TestOut: a directory that a user names is all that is written, and the link to the
// latest run takes nobody's place.
func TestOut(t *testing.T) {
	t.Parallel()
	needLab(t, 1)
	dir := t.TempDir()
	mine := func(name string) string { return filepath.Join(dir, name, "latest") }
	for _, name := range []string{"z", "runs"} {
		if err := errors.Join(os.Mkdir(filepath.Join(dir, name), 0o755), os.WriteFile(mine(name), []byte("mine"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	once := func(args ...string) {
		t.Helper()
		args = append([]string{"run", "--algorithm", "none", "--fault", "none", "--duration", "500ms"}, args...)
		if code, stdout, stderr := testkit.Ran(t, testkit.Command(t, dir, args...)); code != exitKept {
			t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
		}
	}
	once("--out", filepath.Join("z", "foo"))
	once()
	for _, name := range []string{"z", "runs"} {
		if text, err := os.ReadFile(mine(name)); err != nil || string(text) != "mine" {
			t.Errorf("%s holds %q, %v", mine(name), text, err)
		}
	}
	if err := os.Remove(mine("runs")); err != nil {
		t.Fatal(err)
	}
	once()
	if _, err := os.Stat(filepath.Join(mine("runs"), "plan.json")); err != nil {
		t.Errorf("the latest run: %v", err)
	}
}
