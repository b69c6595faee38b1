package checker

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/history"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestGolden judges the histories under testdata. Beside each lies its plan and
// what the checkers must say of it, to be read by people.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(files) < 8 {
		t.Fatalf("only %d histories under testdata: %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(file, ".jsonl")
		t.Run(filepath.Base(name), func(t *testing.T) {
			got := render(judge(readPlan(t, name+".plan.json"), readHistory(t, file)))
			if *update {
				if err := os.WriteFile(name+".golden", []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(name + ".golden")
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

// render writes a result as a person would want to read it.
func render(r Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", strings.TrimSpace(string(r.Outcome)+" "+r.Reason))
	fmt.Fprintf(&b, "sections %d, contended %d, outage %.1f ms, first violation %.1f ms, effect %v %q\n",
		r.Sections, r.Contended, r.OutageMS, r.FirstViolationMS, r.Effect.Proven, r.Effect.Measured)
	for _, l := range r.Layers {
		fmt.Fprintf(&b, "\n%s: %s: %s\n", l.Name, l.Verdict, l.Summary)
		for _, f := range l.Findings {
			fmt.Fprintf(&b, "  [%s] %s %v", f.Mechanism, f.Sentence, f.IDs)
			if f.Confirmed {
				fmt.Fprint(&b, " confirmed")
			}
			fmt.Fprintln(&b)
		}
	}
	return b.String()
}

func readPlan(t *testing.T, file string) (p history.Plan) {
	b, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(b, &p)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// readHistory reads the events of a file, as one follows a run.
func readHistory(t *testing.T, file string) history.Events {
	dir := t.TempDir()
	file, err := filepath.Abs(file)
	if err == nil {
		err = os.Symlink(file, filepath.Join(dir, "h.jsonl"))
	}
	if err != nil {
		t.Fatal(err)
	}
	h, err := history.Follow(dir).Next()
	if err != nil || len(h) == 0 {
		t.Fatalf("%s: %d events, %v", file, len(h), err)
	}
	return h
}
