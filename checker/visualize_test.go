package checker

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

// TestVisualize draws every finding of the golden histories that porcupine confirmed.
func TestVisualize(t *testing.T) {
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	drawn := 0
	for _, file := range files {
		plan, ix := readPlan(t, strings.TrimSuffix(file, ".jsonl")+".plan.json"), indexed(readHistory(t, file))
		for _, l := range Check(t.Context(), plan, ix).Layers {
			for _, f := range l.Findings {
				var b bytes.Buffer
				err := Visualize(t.Context(), &b, plan, ix, f)
				if !f.Confirmed || l.Name != LayerGrant {
					if err == nil {
						t.Errorf("%s: a finding of %s was drawn that porcupine did not confirm", file, l.Name)
					}
					continue
				}
				drawn++
				if err != nil {
					t.Errorf("%s: %v", file, err)
				}
				for _, want := range []string{"acquires: ok", "held by "} {
					if !strings.Contains(b.String(), want) {
						t.Errorf("%s: the picture lacks %q", file, want)
					}
				}
			}
		}
	}
	if drawn < 3 {
		t.Errorf("only %d findings were drawn", drawn)
	}
}
