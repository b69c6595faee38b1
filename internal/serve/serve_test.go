package serve

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/cost"
	"github.com/lockbench/lockbench/internal/quorum"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/reports"
)

// everything makes one directory of each kind, and returns that in which they are.
func everything(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	judge(t, writeRun(t, in("a-run"), "overstay-check", "A", "pause-holder"))
	writeRun(t, in("cut-short"), "safe", "A", "none")
	f := writeRun(t, in("failed"), "safe", "A", "none")
	ok(t, f.SaveResult(checker.Result{Plan: f.Plan, Outcome: lb.Inconclusive, Failed: true, Reason: "the run failed: no java", OutageMS: -1, FirstViolationMS: -1}))
	m := writeMatrix(t, in("ci/shard-2"))
	m.Shard, m.ForGate = rundir.Shard{Nth: 2, Of: 3}, true
	grow(t, m, 0, 0, "safe")
	grow(t, m, 1, 0, "overstay-broken")
	writeMatrix(t, in("half"))
	b, err := rundir.CreateBench(in("speed"), cost.Plan{Algorithms: []string{"A", "B"}, Rounds: 6})
	ok(t, err)
	b.Bench.Rounds = 6
	ok(t, b.Save())
	ok(t, os.MkdirAll(in("study"), 0o755))
	_, err = reports.Quorum(in("study"), quorum.Study{Schema: quorum.Schema, Ensembles: []quorum.Ensemble{quorum.New("etcd", "", 3)}, Missing: []string{"5 etcd servers: no time"}})
	ok(t, err)
	writeMatrix(t, in("damaged"))
	ok(t, os.Truncate(in("damaged/matrix.json"), 100))
	ok(t, os.MkdirAll(in("empty/below"), 0o755))
	ok(t, os.Mkdir(in(".hidden"), 0o755))
	ok(t, rundir.Latest(in("a-run")))
	return dir
}

// TestFront: the list has all that there is, the newest first, and says what became of it;
// what is damaged hides nothing else.
func TestFront(t *testing.T) {
	dir := everything(t)
	// The order in which they were begun is not that of their names.
	for i, name := range []string{"study", "damaged", "empty"} {
		then := time.Now().Add(-time.Duration(i+1) * 25 * time.Hour)
		for _, file := range []string{"quorum.json", "quorum.html", "matrix.json", "."} {
			if path := filepath.Join(dir, name, file); file == "." || exists(path) {
				ok(t, os.Chtimes(path, then, then))
			}
		}
	}
	s := site(t, dir)
	_, page := get(t, s.URL+"/")
	for id, want := range map[string]string{
		"a-run":      "A × pause-holder done CHECK overstay run, just now, a-run",
		"cut-short":  "A × none interrupted it was not judged run, just now, cut-short",
		"failed":     "A × none failed failed the run failed: no java run, just now, failed",
		"ci/shard-2": "A × none, pause-holder, cut done: 2 runs 1 BROKEN 1 SAFE gate, shard 2/3, just now, ci/shard-2",
		"half":       "A × none, pause-holder, cut interrupted: 0 of 2 runs 2 not run matrix, just now, half",
		"speed":      "A, B done: 6 rounds benchmark, just now, speed",
		"study":      "etcd failed: 1 of 2 ensembles study of quorums, 1 day ago, study",
		"damaged":    "damaged damaged damaged/matrix.json:7: unexpected end of JSON input matrix, 2 days ago, damaged",
		"empty":      "empty unknown empty is the directory of neither a run (with plan.json and events/) nor a matrix (with matrix.json) nor a benchmark (with bench.json) 3 days ago, empty",
		"latest":     "", ".hidden": "",
	} {
		if got := textOf(t, page, "run-"+id); got != want {
			t.Errorf("%s: %q\nwant %q", id, got, want)
		}
	}
	if !regexp.MustCompile(`^lockbench \S+ 9 entries, the newest first A`).MatchString(textOf(t, page, "main")) {
		t.Errorf("the head: %.100s", textOf(t, page, "main"))
	}
	var order []string
	for _, m := range regexp.MustCompile(`<li id="run-([a-z]+)`).FindAllStringSubmatch(page, -1) {
		order = append(order, m[1])
	}
	if n := len(order); n != 9 || !slices.Equal(order[n-3:], []string{"study", "damaged", "empty"}) {
		t.Errorf("in the order %q", order)
	}
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

// TestMany: of very many the list shows the newest, and all to whoever asks.
func TestMany(t *testing.T) {
	dir := t.TempDir()
	for i := range most + 5 {
		ok(t, os.Mkdir(filepath.Join(dir, fmt.Sprint(i)), 0o755))
	}
	s := site(t, dir)
	for path, want := range map[string]int{"/": most, "/?all": most + 5} {
		_, page := get(t, s.URL+path)
		if n := strings.Count(page, "<li id="); n != want || strings.Contains(page, "Show all 305") != (want == most) {
			t.Errorf("%s: %d entries, want %d", path, n, want)
		}
	}
}

// TestDirectory: one that is empty says how to begin, and one that is gone that it is.
func TestDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs")
	ok(t, os.Mkdir(dir, 0o755))
	s := site(t, dir)
	if _, page := get(t, s.URL+"/"); !strings.Contains(page, "lockbench run --algorithm") {
		t.Errorf("an empty one: %s", textOf(t, page, "main"))
	}
	ok(t, os.Remove(dir))
	eventually(t, func() bool {
		_, page := get(t, s.URL+"/")
		return strings.Contains(textOf(t, page, "main"), "It can’t be read: open "+dir)
	})
	writeRun(t, filepath.Join(dir, "r"), "safe", "A", "none")
	eventually(t, func() bool { _, page := get(t, s.URL+"/"); return textOf(t, page, "run-r") != "" })
}

// TestPages: each directory has the page that lockbench report makes, under a policy that lets
// all of it through and nothing else, and nothing is written for it.
func TestPages(t *testing.T) {
	dir := everything(t)
	s := site(t, dir)
	before := snapshot(t, dir)
	element := regexp.MustCompile(`(?s)<(style|script)[^>]*>(.*?)</(?:style|script)>`)
	for path, want := range map[string]string{
		"/":                                "9 entries",
		"/runs/a-run/":                     "overstay: ",
		"/runs/latest/":                    "overstay: ",
		"/runs/cut-short/":                 "this run was not judged",
		"/runs/failed/":                    "the run failed: no java",
		"/runs/ci/shard-2/":                "This is shard 2/3 of a matrix",
		"/runs/half/":                      "This matrix is not finished: 2 of 3 cells without a run",
		"/runs/speed/":                     "What does a distributed lock cost?",
		"/runs/study/":                     "How many servers can a lock service lose?",
		"/runs/damaged/":                   "There is no page of it: ",
		"/runs/empty/":                     "below/",
		"/runs/ci/":                        "shard-2/",
		"/runs/a-run/events/":              "runner.jsonl",
		"/runs/a-run/?files":               "plan.json",
		"/runs/ci/shard-2/cells/a/none/1/": "A under none",
	} {
		res, page := get(t, s.URL+path)
		if res.StatusCode != http.StatusOK || !strings.Contains(page, want) {
			t.Errorf("%s: %s, and no %q in %.200q", path, res.Status, want, textOf(t, page, "main"))
		}
		policy := res.Header.Get("Content-Security-Policy")
		for _, directive := range []string{"default-src 'none';", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"} {
			if !strings.Contains(policy, directive) {
				t.Errorf("%s: no %s in %s", path, directive, policy)
			}
		}
		for _, m := range element.FindAllStringSubmatch(page, -1) {
			of := regexp.MustCompile(m[1] + `-src(-elem)? [^;]*`).FindString(policy)
			if !strings.Contains(of, hash(m[2])) {
				t.Errorf("%s: %s does not let through %s %.80q", path, of, m[1], m[2])
			}
		}
		for _, part := range []string{`<nav class="bar"`, "<main>", "</main>", "</html>"} {
			if strings.Count(page, part) != 1 {
				t.Errorf("%s: %d times %s", path, strings.Count(page, part), part)
			}
		}
		if m := regexp.MustCompile(`(?i)\son[a-z]+="|javascript:|https?://`).FindString(page); m != "" {
			t.Errorf("%s: %q on the page", path, m)
		}
		if again, body := get(t, s.URL+path, "If-None-Match", res.Header.Get("ETag")); again.StatusCode != http.StatusNotModified || body != "" {
			t.Errorf("%s, known already: %s", path, again.Status)
		}
	}
	if after := snapshot(t, dir); !slices.Equal(before, after) {
		t.Errorf("files before %q, after %q", before, after)
	}
}

// snapshot is all that lies below dir, with its times.
func snapshot(t *testing.T, dir string) (list []string) {
	t.Helper()
	ok(t, filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil {
			list = append(list, fmt.Sprint(path, info.Size(), info.ModTime()))
		}
		return err
	}))
	return list
}

// past makes the file, or all that lies in the directory, as old as ago: what is written in
// the same tick of the file system's clock can't be told apart.
func past(t *testing.T, name string, ago time.Duration) {
	t.Helper()
	then := time.Now().Add(-ago)
	ok(t, filepath.Walk(name, func(path string, _ os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		return os.Chtimes(path, then, then)
	}))
}

// TestWrittenPage: the page that lies there is taken, as long as it tells all that is there.
func TestWrittenPage(t *testing.T) {
	dir := t.TempDir()
	r := writeRun(t, filepath.Join(dir, "r"), "overstay-check", "A", "pause-holder")
	res := judge(t, r)
	path, err := reports.HTML(r.Dir)
	ok(t, err)
	text, err := os.ReadFile(path)
	ok(t, err)
	const mine = "<p>a mark of mine</p>"
	ok(t, os.WriteFile(path, []byte(strings.Replace(string(text), "<main>", "<main>"+mine, 1)), 0o644))
	past(t, r.Dir, time.Hour)
	past(t, path, time.Minute)
	s := site(t, dir)
	taken := func() bool { _, page := get(t, s.URL+"/runs/r/"); return strings.Contains(page, mine) }
	if !taken() {
		t.Error("another page is made")
	}
	past(t, r.Dir, time.Minute)
	if taken() {
		t.Error("the page may be older than the result")
	}
	res.Outcome = lb.Broken
	ok(t, r.SaveResult(res))
	if taken() {
		t.Error("the page is older than the result")
	}
	if _, page := get(t, s.URL+"/runs/r/"); !strings.Contains(page, `<span class="chip broken">BROKEN</span>`) {
		t.Errorf("not the new result: %.300s", textOf(t, page, "main"))
	}
}
