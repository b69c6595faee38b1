package serve

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestFiles: what a run left is there as it is, and a browser shows what it can.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	judge(t, writeRun(t, filepath.Join(dir, "m 1/r#%"), "overstay-check", "A", "pause-holder"))
	write := func(name, content string) {
		ok(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, "m 1/r#%", name)), 0o755))
		ok(t, os.WriteFile(filepath.Join(dir, "m 1/r#%", name), []byte(content), 0o644))
	}
	write("porcupine.html", "<script>let a = 1</script>")
	write("events/w1.jsonl.gz", "\x1f\x8b\x08")
	write("plots/cycle.svg", "<svg/>")
	write("plots/cycle.png", "\x89PNG")
	write("data/dump.rdb", "<html>")
	s := site(t, dir)
	base := s.URL + "/runs/" + url.PathEscape("m 1") + "/" + url.PathEscape("r#%") + "/"
	for name, kind := range map[string]string{
		"plan.json": "application/json", "events/runner.jsonl": text, "logs/lockbench.log": text, "events/w1.jsonl.gz": "application/gzip",
		"porcupine.html": "text/html; charset=utf-8", "plots/cycle.svg": "image/svg+xml", "plots/cycle.png": "image/png", "data/dump.rdb": "application/octet-stream",
	} {
		res, body := get(t, base+name, "Accept-Encoding", "gzip")
		want, err := os.ReadFile(filepath.Join(dir, "m 1/r#%", name))
		ok(t, err)
		h := res.Header
		if res.StatusCode != http.StatusOK || h.Get("Content-Type") != kind || h.Get("Content-Encoding") != "" || h.Get("X-Content-Type-Options") != "nosniff" || body != string(want) {
			t.Errorf("%s: %s, %v, %.100q", name, res.Status, h, body)
		}
		// It may come from anywhere: nothing of it is ours, or gets out.
		if p := h.Get("Content-Security-Policy"); !strings.HasPrefix(p, "sandbox ") || strings.Contains(p, "allow-same-origin") || !strings.Contains(p, "default-src 'none'") {
			t.Errorf("%s: %s", name, p)
		}
	}
	if res, body := get(t, base+"events/runner.jsonl", "Range", "bytes=2-10"); res.StatusCode != http.StatusPartialContent || body != `lockbench` {
		t.Errorf("a part: %s, %q", res.Status, body)
	}
	if res, _ := get(t, base[:len(base)-1]+"?files"); res.StatusCode != http.StatusFound || s.URL+res.Header.Get("Location") != base+"?files" {
		t.Errorf("without a slash: %s, %s", res.Status, res.Header.Get("Location"))
	}
	_, page := get(t, base+"?files")
	for _, want := range []string{`href="/runs/m%201/r%23%25/events/"`, `href="/runs/m%201/r%23%25/plan.json"`} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in the list of files", want)
		}
	}
}

// TestEscapes: nothing is reached that is not in the directory, by whatever name or link.
func TestEscapes(t *testing.T) {
	outside := t.TempDir()
	const secret = "the secret"
	ok(t, os.WriteFile(filepath.Join(outside, "secret.txt"), []byte(secret), 0o644))
	writeRun(t, filepath.Join(outside, "theirs"), "safe", "secret", "none")
	dir := filepath.Join(outside, "runs")
	writeRun(t, filepath.Join(dir, "r"), "safe", "A", "none")
	for link, to := range map[string]string{"r/logs/out": "../../../secret.txt", "r/logs/abs": filepath.Join(outside, "secret.txt"), "r/logs/dir": "../../..", "up": "..", "theirs": "../theirs"} {
		ok(t, os.Symlink(to, filepath.Join(dir, link)))
	}
	ok(t, os.WriteFile(filepath.Join(dir, "r", ".env"), []byte(secret), 0o644))
	ok(t, os.Symlink("lockbench.log", filepath.Join(dir, "r/logs/inside.log")))
	ok(t, syscall.Mkfifo(filepath.Join(dir, "r/logs/pipe.log"), 0o644))
	s := site(t, dir)
	for _, path := range []string{
		"r/logs/out", "r/logs/abs", "r/logs/dir/", "r/logs/dir/secret.txt", "up/", "up/secret.txt", "up/theirs/", "theirs/", "theirs/plan.json", "r/.env",
		"../secret.txt", "..%2fsecret.txt", "%2e%2e/secret.txt", "r/%2e%2e/%2e%2e/secret.txt", "r/..%2f..%2fsecret.txt", "..%5csecret.txt", "r//../../secret.txt",
		url.PathEscape(filepath.Join(outside, "secret.txt")), "/" + filepath.Join(outside, "secret.txt"), "r/logs/lockbench.log/", "r/logs/lockbench.log/..", "r/plan.json%00", "r/logs/pipe.log", "none/",
	} {
		begin := time.Now()
		res, body := get(t, s.URL+"/runs/"+path)
		if res.StatusCode == http.StatusOK || strings.Contains(body, secret) || time.Since(begin) > 5*time.Second {
			t.Errorf("%s: %s, %.100q", path, res.Status, body)
		}
	}
	if res, body := get(t, s.URL+"/runs/r/logs/inside.log"); res.StatusCode != http.StatusOK || body != "it began\n" {
		t.Errorf("a link to what is there: %s, %q", res.Status, body)
	}
	_, front := get(t, s.URL+"/")
	_, logs := get(t, s.URL+"/runs/r/logs/")
	if list := textOf(t, front, "ol"); !strings.HasPrefix(list, "A × none ") || strings.Contains(list, "theirs") || strings.Contains(list, "secret") {
		t.Errorf("the list: %q", list)
	}
	var listed []string
	for _, m := range regexp.MustCompile(`<td><a href="[^"]*">([^<]*)<`).FindAllStringSubmatch(logs, -1) {
		listed = append(listed, m[1])
	}
	if !slices.Equal(listed, []string{"inside.log", "lockbench.log"}) {
		t.Errorf("the files: %q", listed)
	}
}

// TestGuard: nothing can be changed, and no page from elsewhere reads anything through a name
// of its own.
func TestGuard(t *testing.T) {
	dir := t.TempDir()
	local, public := New(dir, false).Handler(), New(dir, true).Handler()
	ask := func(h http.Handler, method, host string) *http.Response {
		r := httptest.NewRequest(method, "/", nil)
		r.Host = host
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Result()
	}
	for host, status := range map[string]int{
		"localhost": 200, "localhost:7070": 200, "LOCALHOST.:8080": 200, "runs.localhost:1": 200, "127.0.0.1:7070": 200, "127.8.9.1": 200, "[::1]:7070": 200, "[::1]": 200,
		"": 403, "example.com": 403, "127.0.0.1.example.com": 403, "localhost.example.com:7070": 403, "notlocalhost": 403, "10.0.0.1:7070": 403, "0.0.0.0:7070": 403, "[::]:7070": 403,
	} {
		if got := ask(local, http.MethodGet, host).StatusCode; got != status {
			t.Errorf("host %q: %d, want %d", host, got, status)
		}
		if got := ask(public, http.MethodGet, host).StatusCode; got != 200 {
			t.Errorf("host %q where all may come: %d", host, got)
		}
	}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions, "PROPFIND"} {
		if res := ask(public, method, "localhost"); res.StatusCode != http.StatusMethodNotAllowed || res.Header.Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: %s", method, res.Status)
		}
	}
	res := ask(local, http.MethodHead, "localhost")
	if body, _ := io.ReadAll(res.Body); res.StatusCode != 200 || len(body) > 0 || res.Header.Get("Content-Length") == "" {
		t.Errorf("HEAD: %s, %d bytes", res.Status, len(body))
	}
	if ask(local, http.MethodGet, "example.com").Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Error("a refusal may be taken for something else")
	}
}
