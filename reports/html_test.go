package reports

import (
	"os"
	"testing"
)

func TestHTML(t *testing.T) {
	dir := t.TempDir()
	if d := os.Getenv("SAMPLE"); d != "" {
		dir = d
	}
	writeSample(t, dir)
	path, err := HTML(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(path)
}
