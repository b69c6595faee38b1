package cli

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/testkit"
)

// serving starts lockbench serve in dir, and returns its address.
func serving(t *testing.T, dir string, args ...string) (cmd *exec.Cmd, url string) {
	t.Helper()
	cmd = testkit.Command(t, dir, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // fails when it has ended
	line, err := bufio.NewReader(out).ReadString('\n')
	if url = strings.TrimSpace(line); err != nil || !regexp.MustCompile(`^http://127\.0\.0\.1:\d+/$`).MatchString(url) {
		t.Fatalf("it says %q, %v", line, err)
	}
	return cmd, url
}

// body is what stands at the address, "" where nothing does.
func body(t *testing.T, url string) string {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		return ""
	}
	return string(text)
}

// TestServe: it serves until somebody interrupts it, and tells where a port is taken.
func TestServe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	recordMatrix(t, filepath.Join(dir, "runs", "m"))
	cmd, url := serving(t, dir)
	if page := body(t, url); !strings.Contains(page, "A, B × none, pause-holder, cut:x") {
		t.Errorf("the list: %s", page)
	}
	if page := body(t, url+"runs/m/"); !strings.Contains(page, "This matrix is not finished") {
		t.Errorf("the page: %.500s", page)
	}
	at := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/")
	code, _, stderr := testkit.Ran(t, testkit.Command(t, dir, "serve", "--listen", at))
	if code != exitCantRun || !strings.Contains(stderr, "another program listens there, perhaps a lockbench serve; --listen 127.0.0.1:0 takes a port that is free") {
		t.Errorf("a port that is taken: exit code %d\n%s", code, stderr)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if err := cmd.Wait(); err != nil || time.Since(begin) > 3*time.Second {
		t.Errorf("interrupted: %v after %v", err, time.Since(begin))
	}
}

// TestServeLive: a real matrix is seen to begin, to grow and to end.
func TestServeLive(t *testing.T) {
	t.Parallel()
	needLab(t, 1)
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "runs"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, url := serving(t, dir)
	matrix := testkit.Command(t, dir, "matrix", "--algorithms", "none", "--faults", "none", "--runs", "4", "--jobs", "1", "--duration", "2s", "--out", filepath.Join("runs", "m"))
	var printed bytes.Buffer
	matrix.Stdout, matrix.Stderr = &printed, &printed
	if err := matrix.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- matrix.Wait() }()
	state := regexp.MustCompile(`<span class="state \w+">([^<]*)</span>`)
	seen := map[string]string{"": "", "runs/m/": ""} // each state once, on the list and on the page
	whole := func() bool {
		return strings.HasSuffix(seen[""], "done: 4 runs; ") && strings.HasSuffix(seen["runs/m/"], "done: 4 runs; ")
	}
	for end := time.Now().Add(3 * time.Minute); !whole(); time.Sleep(50 * time.Millisecond) {
		for path := range seen {
			if m := state.FindStringSubmatch(body(t, url+path)); m != nil && !strings.HasSuffix(seen[path], m[1]+"; ") {
				seen[path] += m[1] + "; "
			}
		}
		if time.Now().After(end) {
			t.Fatalf("seen: %q", seen)
		}
	}
	for path, states := range seen {
		if !regexp.MustCompile(`^(running; )?(running: \d of 4 runs; ){2,4}(running: 4 runs; )?done: 4 runs; $`).MatchString(states) {
			t.Errorf("/%s: %s", path, states)
		}
	}
	if err := <-ended; err != nil {
		t.Errorf("the matrix: %v\n%s", err, printed.String())
	}
}
