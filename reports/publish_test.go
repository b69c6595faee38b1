package reports

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPublish: everything that was measured stands in the file, and every picture and page
// that it leads to is there.
func TestPublish(t *testing.T) {
	dir, out := t.TempDir(), filepath.Join(t.TempDir(), "results")
	writeSample(t, dir)
	saved(t, dir, sampleBench())
	if _, err := Quorum(dir, sampleStudy()); err != nil {
		t.Fatal(err)
	}
	path, err := Publish(out, dir)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range append(append([]string{"| 🟧 FENCE | etcd-lease | overstay | pause-holder |", "Which lock to take", "What it costs", "crashes survived", "Broken promises: 1"}, sampleRows...), sampleCols...) {
		if !strings.Contains(string(text), want) {
			t.Errorf("the file lacks %q", want)
		}
	}
	links := regexp.MustCompile(`\]\(([^)#]+)\)`).FindAllStringSubmatch(string(text), -1)
	if len(links) < 4 {
		t.Errorf("only %d pictures", len(links))
	}
	for _, l := range links {
		if _, err := os.Stat(filepath.Join(out, l[1])); err != nil {
			t.Errorf("%s leads nowhere: %v", l[0], err)
		}
	}
}

// TestPublishAgain: what a report made is made anew, and what somebody wrote stays.
func TestPublishAgain(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	writeSample(t, dir)
	for range 2 {
		if _, err := Publish(out, dir); err != nil {
			t.Fatal(err)
		}
	}
	const own = "# My project\n"
	file := filepath.Join(out, "README.md")
	if err := os.WriteFile(file, []byte(own), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Publish(out, dir)
	if text, _ := os.ReadFile(file); err == nil || string(text) != own {
		t.Errorf("%v, and the file begins with %.40q", err, text)
	}
}

func TestPublishNeedsRuns(t *testing.T) {
	dir := t.TempDir()
	saved(t, dir, sampleBench())
	if _, err := Publish(filepath.Join(t.TempDir(), "out"), dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a benchmark alone was published: %v", err)
	}
}
