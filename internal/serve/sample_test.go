package serve

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/rundir"
)

const samples = "../../checker/testdata"

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// writeRun makes the directory of a run: its plan and history are those of a sample of the
// checkers, and what they make of it is its result.
func writeRun(t *testing.T, dir, sample, algorithm, fault string) *rundir.Run {
	t.Helper()
	var plan history.Plan
	text, err := os.ReadFile(filepath.Join(samples, sample+".plan.json"))
	ok(t, errors.Join(err, json.Unmarshal(text, &plan)))
	plan.Algorithm, plan.Fault = algorithm, fault
	r, err := rundir.CreateRun(dir, plan)
	ok(t, err)
	text, err = os.ReadFile(filepath.Join(samples, sample+".jsonl"))
	header, _, _ := strings.Cut(string(text), "\n")
	ok(t, errors.Join(err, os.WriteFile(r.EventsFile(rundir.Runner), text, 0o644), os.WriteFile(r.EventsFile(rundir.Store), []byte(header+"\n"), 0o644), os.WriteFile(r.LogFile("lockbench"), []byte("it began\n"), 0o644)))
	return r
}

func judge(t *testing.T, r *rundir.Run) checker.Result {
	t.Helper()
	ix, err := r.History(t.Context())
	ok(t, err)
	res := checker.Check(t.Context(), r.Plan, ix)
	ok(t, r.SaveResult(res))
	return res
}

// grow does the nth run of the ith cell, as the runner does.
func grow(t *testing.T, m *rundir.Matrix, i, n int, sample string) {
	t.Helper()
	dir, full := m.RunDir(i, n)
	r := writeRun(t, full, sample, m.Cells[i].Algorithm, m.Cells[i].Fault)
	c := checker.CellOf([]checker.Result{judge(t, r)})
	c.Dir = dir
	ok(t, m.Set(i, c))
}

// writeMatrix makes that of a matrix of which nothing was run: A under two faults, and under
// one that has no meaning there.
func writeMatrix(t *testing.T, dir string) *rundir.Matrix {
	t.Helper()
	m, err := rundir.CreateMatrix(dir, []checker.Cell{{Algorithm: "A", Fault: "none"}, {Algorithm: "A", Fault: "pause-holder"},
		{Algorithm: "A", Fault: "cut", Outcome: lb.NotAvailable, Reason: "no network"}}, 1)
	ok(t, err)
	return m
}

// site serves dir.
func site(t *testing.T, dir string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(New(dir, false).Handler())
	t.Cleanup(s.Close)
	return s
}

// get asks as a browser would that does not follow redirections. Headers are names and
// values in turn.
func get(t *testing.T, url string, headers ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	ok(t, err)
	for i := 0; i < len(headers); i += 2 {
		if req.Header.Set(headers[i], headers[i+1]); headers[i] == "Host" {
			req.Host = headers[i+1]
		}
	}
	res, err := (&http.Transport{DisableCompression: true}).RoundTrip(req)
	ok(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	ok(t, err)
	return res, string(body)
}

// text is what a reader sees of the element with the id, or of the first one of that name.
func textOf(t *testing.T, page, idOrName string) string {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(page))
	ok(t, err)
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode || n.Data != idOrName && attr(n, "id") != idOrName {
			continue
		}
		var words []string
		for d := range n.Descendants() {
			if d.Type == html.TextNode && d.Parent.Data != "script" && d.Parent.Data != "style" {
				words = append(words, strings.Fields(d.Data)...)
			}
		}
		return strings.ReplaceAll(strings.Join(words, " "), " ,", ",")
	}
	return ""
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// eventually looks until it is so: the server looks again only after a while.
func eventually(t *testing.T, so func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !so(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("never")
		}
	}
}
