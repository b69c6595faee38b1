package serve

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/rundir"
)

// TestExploration: an exploration stands in the list, and has its page, although it holds no run.
func TestExploration(t *testing.T) {
	dir := t.TempDir()
	for name, cut := range map[string]bool{"whole": false, "cut": true} {
		ok(t, rundir.SaveExplored(filepath.Join(dir, name), map[string]any{"schema": history.Schema, "interrupted": cut,
			"plan":    map[string]any{"algorithm": "A", "topology": "redis"},
			"levels":  []any{map[string]any{"faults": 0, "orders": 20, "share": 1}, map[string]any{"faults": 1, "orders": 54, "share": 1}},
			"classes": []any{map[string]any{"class": []any{}, "orders": 74, "outcomes": map[string]int{"SAFE": 74}}}}))
	}
	s := site(t, dir)
	_, list := get(t, s.URL+"/")
	for id, want := range map[string]string{
		"whole": "A done: 74 orders exploration, just now, whole",
		"cut":   "A interrupted: 74 orders exploration, just now, cut",
	} {
		if got := textOf(t, list, "run-"+id); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if _, page := get(t, s.URL+"/runs/whole/"); !strings.Contains(page, "none of these 74 orders breaks it") {
		t.Errorf("its page: %.300s", page)
	}
}
