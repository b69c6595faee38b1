//go:build linux

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/lockbench/lockbench/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m, placement) }

// TestMeasure: each place has its blocks, and all are in the picture.
func TestMeasure(t *testing.T) {
	places, err := measure(t.Context(), 2, 20)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range places {
		if len(p.blocks) != 2 || p.blocks[0] <= 0 || p.blocks[1] <= 0 {
			t.Errorf("%s: %v", p.name, p.blocks)
		}
	}
	file := filepath.Join(t.TempDir(), "placement.svg")
	if err := draw(places, file); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil || len(text) < 1000 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}
