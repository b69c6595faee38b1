package reports

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
)

var update = flag.Bool("update", false, "write the golden files")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs from what was drawn; look at the change, then run with -update. Got:\n%s", path, got)
	}
}

func TestGoldenText(t *testing.T) {
	for name, write := range map[string]func(io.Writer) error{
		"matrix-100.txt":   func(w io.Writer) error { return Matrix(w, sampleCells(), 5, false, 100) },
		"matrix-60.txt":    func(w io.Writer) error { return Matrix(w, sampleCells(), 5, false, 60) },
		"matrix-color.txt": func(w io.Writer) error { return Matrix(w, sampleCells()[:27], 5, true, 140) },
		"matrix-large.txt": func(w io.Writer) error { return Matrix(w, largeCells(), 1, false, 100) },
		"matrix.md":        func(w io.Writer) error { return markdown(w, sampleCells(), 5, markdownPromises) },
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := write(&b); err != nil {
				t.Fatal(err)
			}
			golden(t, name, b.Bytes())
		})
	}
}

func TestGoldenTimelines(t *testing.T) {
	plan := history.Plan{Algorithm: "lock", Fault: "fault", TTL: 1e9, Traits: lb.Traits{Leased: true}}
	for name, story := range map[string]func() (history.Events, checker.Finding){
		"double-grant-late-del.svg":  lateDelete,
		"overstay-frozen-holder.svg": func() (history.Events, checker.Finding) { return overstay(true) },
		"stuck-ghost.svg":            ghost,
		"renewed-then-lost.svg":      renewedThenLost,
		"strange-release.svg":        strangeRelease,
		"vanished-grant.svg":         vanished,
		"early-release.svg":          earlyRelease,
	} {
		t.Run(name, func(t *testing.T) {
			h, f := story()
			golden(t, name, []byte(Timeline(indexed(t, h), f, plan)))
		})
	}
}
