package serve

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/rundir"
)

// TestGoingOn: whoever asks again and again sees a matrix grow, on the list and on its page,
// is told only of what is new, and has the pictures in the end.
func TestGoingOn(t *testing.T) {
	dir := t.TempDir()
	m := writeMatrix(t, filepath.Join(dir, "m"))
	release := rundir.Hold(m.Dir)
	s := site(t, dir)
	tags := map[string]string{}
	news := func(path string) string { // what is new, if anything is
		res, body := get(t, s.URL+path, "If-None-Match", tags[path])
		if res.StatusCode == http.StatusNotModified {
			return ""
		}
		tags[path] = res.Header.Get("ETag")
		return body
	}
	sees := func(list, page string) {
		t.Helper()
		for path, want := range map[string]string{"/": list, "/runs/m/": page} {
			eventually(t, func() bool { return strings.Contains(textOf(t, news(path), "body"), want) })
		}
	}
	sees("running: 0 of 2 runs 2 not run", "This matrix is not finished: 2 of 3 cells without a run")
	if res, _ := get(t, s.URL+"/runs/m/", "If-None-Match", tags["/runs/m/"]); res.StatusCode != http.StatusNotModified {
		t.Errorf("nothing has changed: %s", res.Status)
	}
	grow(t, m, 0, 0, "safe")
	sees("running: 1 of 2 runs 1 SAFE 1 not run", "1 SAFE, 1 n/a, 1 not run")
	grow(t, m, 1, 0, "overstay-broken")
	sees("running: 2 runs 1 BROKEN 1 SAFE", "1 SAFE, 1 BROKEN, 1 n/a")
	if _, page := get(t, s.URL+"/runs/m/"); strings.Contains(page, `<svg class="tl"`) || strings.Contains(page, "interrupted") || !strings.Contains(page, `data-every="2000"`) {
		t.Error("it goes on: pictures, or a word of an interruption, or nobody looks for more")
	}
	release()
	sees("done: 2 runs 1 BROKEN 1 SAFE", "done: 2 runs")
	if _, page := get(t, s.URL+"/runs/m/"); !strings.Contains(page, `<svg class="tl"`) || !strings.Contains(page, `data-every="10000"`) {
		t.Error("it is done, and there is no picture")
	}
}

// TestBusy: a page of what goes on is not made again for each that asks.
func TestBusy(t *testing.T) {
	dir := t.TempDir()
	m := writeMatrix(t, filepath.Join(dir, "m"))
	defer rundir.Hold(m.Dir)()
	s := site(t, dir)
	res, _ := get(t, s.URL+"/runs/m/")
	grow(t, m, 0, 0, "safe")
	if again, _ := get(t, s.URL+"/runs/m/", "If-None-Match", res.Header.Get("ETag")); again.StatusCode != http.StatusNotModified {
		t.Errorf("at once again: %s", again.Status)
	}
}

// TestBegun: what has not written anything yet is seen, too.
func TestBegun(t *testing.T) {
	dir := t.TempDir()
	sub := filepath.Join(dir, "study")
	ok(t, os.Mkdir(sub, 0o755))
	defer rundir.Hold(sub)()
	if _, page := get(t, site(t, dir).URL+"/"); !strings.HasPrefix(textOf(t, page, "run-study"), "study running ") {
		t.Errorf("%q", textOf(t, page, "run-study"))
	}
}
