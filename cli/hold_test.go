package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/spf13/cobra"
)

// watched is a lock that looks, whenever it is asked what it is, whether a directory is held.
type watched struct {
	lb.Impl
	dir         string
	held, asked *int
}

func (w watched) Info() lb.Info {
	*w.asked++
	if rundir.Held(w.dir) {
		*w.held++
	}
	return lb.Info{Name: "watched", Topologies: []string{"nowhere"}}
}

// TestExploreHolds: the directory of an exploration is held from the first lock to the last, and is gone where
// nothing came of any.
func TestExploreHolds(t *testing.T) {
	out, held, asked := filepath.Join(t.TempDir(), "e"), 0, 0
	l := watched{dir: out, held: &held, asked: &asked}
	x := exploring{out: out, impls: []lb.Impl{l, l}}
	cmd := &cobra.Command{}
	cmd.SetErr(io.Discard)
	cmd.SetContext(t.Context())
	if err := x.all(cmd); err == nil {
		t.Error("a lock that nobody knows was explored")
	}
	if asked < 4 || held != asked {
		t.Errorf("held %d of %d times", held, asked)
	}
	if _, err := os.Stat(out); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory of nothing is left: %v", err)
	}
}
