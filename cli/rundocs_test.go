package cli

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/internal/testkit"
)

// documented are the first columns of the tables of docs/run-directory.md, by heading.
func documented(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("../docs/run-directory.md")
	if err != nil {
		t.Fatal(err)
	}
	found, heading := map[string][]string{}, ""
	for line := range strings.Lines(string(text)) {
		if h, ok := strings.CutPrefix(line, "## "); ok {
			heading = strings.TrimSpace(h)
		} else if rest, ok := strings.CutPrefix(line, "| `"); ok {
			name, _, _ := strings.Cut(rest, "`")
			found[heading] = append(found[heading], name)
		}
	}
	return found
}

var placeholder = regexp.MustCompile(`[A-Z]+`)

// namesEveryFile wants docs/run-directory.md to name each file of a matrix that was run,
// and of the runs below it with pages of their own, and no other.
func namesEveryFile(t *testing.T, dir string) {
	t.Helper()
	m, err := rundir.OpenMatrix(dir)
	if err != nil {
		t.Fatal(err)
	}
	runs, damaged := m.Runs()
	if len(runs) == 0 || len(damaged) > 0 {
		t.Fatalf("%d runs, damaged: %v", len(runs), damaged)
	}
	for _, r := range runs {
		if code, stdout, stderr := testkit.Ran(t, testkit.Command(t, dir, "report", r.Dir)); code != exitKept {
			t.Fatalf("report: exit code %d\n%s%s", code, stdout, stderr)
		}
	}
	if err := runs[0].Fail("as an example"); err != nil {
		t.Fatal(err)
	}
	docs, unused := documented(t), map[string]bool{}
	var patterns []string
	for _, p := range docs["A matrix"] {
		if !strings.HasSuffix(p, "/") {
			patterns = append(patterns, p)
			continue
		}
		for _, q := range docs["A run"] {
			patterns = append(patterns, p+q)
		}
	}
	for _, p := range patterns {
		unused[p] = true
	}
	err = filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, file)
		i := slices.IndexFunc(patterns, func(p string) bool {
			ok, _ := path.Match(placeholder.ReplaceAllString(p, "*"), filepath.ToSlash(rel))
			return ok
		})
		if i < 0 {
			t.Errorf("docs/run-directory.md does not name %s", rel)
			return err
		}
		delete(unused, patterns[i])
		return err
	})
	if err != nil {
		t.Error(err)
	}
	for p := range maps.Keys(unused) {
		t.Errorf("docs/run-directory.md names %s, and there is none", p)
	}
}

// TestRunDirectoryDocs: the tables have every field of the files that are JSON, in the
// form that is written.
func TestRunDirectoryDocs(t *testing.T) {
	docs := documented(t)
	for file, v := range map[string]any{"plan.json": history.Plan{}, "results.json": checker.Result{}, "matrix.json": rundir.MatrixFile{},
		"explored.json": explore.Result{}, "schedule.json": struct {
			Schema int `json:"schema"`
			explore.Schedule
		}{}} {
		var fields []string
		kind := reflect.TypeOf(v)
		for _, field := range reflect.VisibleFields(kind) {
			if field.Anonymous {
				continue
			}
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			fields = append(fields, name)
		}
		named := slices.Clone(docs[file])
		slices.Sort(fields)
		slices.Sort(named)
		if !slices.Equal(fields, named) {
			t.Errorf("docs/run-directory.md explains of %s %q, and it has %q", file, named, fields)
		}
	}
}
