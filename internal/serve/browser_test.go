package serve

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/internal/testkit"
)

// browse has a real browser look at the page for so many milliseconds of its own time, which
// stands still while it waits for an answer. It returns what the page has become, and what
// the browser complained of.
func browse(t *testing.T, url, ms string) (page, complaints string) {
	t.Helper()
	program, err := testkit.Browser()
	testkit.Need(t, "a browser", err)
	cmd := exec.CommandContext(t.Context(), program, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+t.TempDir(),
		"--enable-logging=stderr", "--virtual-time-budget="+ms, "--dump-dom", url)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, &said)
	}
	for line := range strings.Lines(said.String()) {
		if strings.Contains(line, "CONSOLE") {
			complaints += line
		}
	}
	return out.String(), complaints
}

// TestBrowserFollows: a page that stays open shows what a matrix has become meanwhile, under
// the policy that it is served with.
func TestBrowserFollows(t *testing.T) {
	for path, want := range map[string][]string{
		"/runs/m/": {">done: 2 runs<", "1 SAFE, 1 BROKEN, 1 n/a", `<svg class="tl"`},
		"/":        {">done: 2 runs<", ">1 BROKEN<", ">1 SAFE<"},
	} {
		dir := t.TempDir()
		m := writeMatrix(t, filepath.Join(dir, "m"))
		release := rundir.Hold(m.Dir)
		handler, asked := New(dir, false).Handler(), atomic.Int32{}
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("If-None-Match") != "" {
				switch asked.Add(1) {
				case 2:
					grow(t, m, 0, 0, "safe")
				case 3:
					grow(t, m, 1, 0, "overstay-broken")
					release()
				}
				time.Sleep(300 * time.Millisecond) // so that it is worth looking again
			}
			handler.ServeHTTP(w, r)
		}))
		page, complaints := browse(t, s.URL+path, "15000")
		s.Close()
		for _, w := range want {
			if !strings.Contains(page, w) {
				t.Errorf("%s: no %q after %d questions in %.600q", path, w, asked.Load(), textOf(t, page, "body"))
			}
		}
		if complaints != "" {
			t.Errorf("%s: %s", path, complaints)
		}
	}
}

// TestBrowserKeeps: what is new takes its place; what the reader has unfolded or typed, and
// every element that stays, is left alone; and a filter hears of it.
func TestBrowserKeeps(t *testing.T) {
	const before = `<nav class="bar" data-every="100" data-tag="1"><span class="gone" hidden></span></nav><main>
<p class="a">old</p>
<dl class="gone"></dl>
<form class="filter" hidden><input></form>
<section aria-labelledby="m"><table><tr><td class="x">not run</td><td>SAFE</td></tr></table></section>
<article id="one"><details><summary>1</summary></details></article>
<article id="two"><details open><summary>2</summary></details></article>
<article id="gone">gone</article></main>`
	const after = `<nav class="bar" data-every="100000" data-tag="2"><span class="gone" hidden></span></nav><main>
<p class="b">new</p>
<form class="filter" hidden><input></form>
<section aria-labelledby="alarm">alarm</section>
<section aria-labelledby="m"><table><tr><td>BROKEN</td><td>SAFE</td></tr></table></section>
<article id="zero"><details open><summary>0</summary></details></article>
<article id="two"><details><summary>2!</summary></details></article>
<article id="one"><details><summary>1!</summary></details></article></main>`
	const reader = `const some = "section, td, article, p, form";
for (const e of document.querySelectorAll(some)) e.mine = true;
document.forms[0].hidden = false;
document.forms[0].elements[0].value = "redis-*";
document.forms[0].addEventListener("input", (e) => e.target.setAttribute("action", e.target.elements[0].value));
document.querySelector("#one details").open = true;
document.querySelector("#two details").open = false;
setTimeout(() => {
  const all = [...document.querySelectorAll(some)].map((e) => (e.mine ? "kept " : "new ") + e.outerHTML.replace(/\s+/g, " "));
  document.querySelector("title").textContent = all.join("\n");
}, 3000);`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := before
		if r.Header.Get("If-None-Match") == "1" {
			body = after
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write([]byte(`<!doctype html><title></title><script type="module">` + reader + liveJS + `</script><body>` + body))
	}))
	defer s.Close()
	page, complaints := browse(t, s.URL, "5000")
	_, rest, _ := strings.Cut(page, "<title>")
	got, _, _ := strings.Cut(rest, "</title>")
	want := `kept &lt;p class="b"&gt;new&lt;/p&gt;
kept &lt;form class="filter" action="redis-*"&gt;&lt;input&gt;&lt;/form&gt;
new &lt;section aria-labelledby="alarm"&gt;alarm&lt;/section&gt;
kept &lt;section aria-labelledby="m"&gt;&lt;table&gt;&lt;tbody&gt;&lt;tr&gt;&lt;td&gt;BROKEN&lt;/td&gt;&lt;td&gt;SAFE&lt;/td&gt;&lt;/tr&gt;&lt;/tbody&gt;&lt;/table&gt;&lt;/section&gt;
kept &lt;td&gt;BROKEN&lt;/td&gt;
kept &lt;td&gt;SAFE&lt;/td&gt;
new &lt;article id="zero"&gt;&lt;details open=""&gt;&lt;summary&gt;0&lt;/summary&gt;&lt;/details&gt;&lt;/article&gt;
kept &lt;article id="two"&gt;&lt;details&gt;&lt;summary&gt;2!&lt;/summary&gt;&lt;/details&gt;&lt;/article&gt;
kept &lt;article id="one"&gt;&lt;details open=""&gt;&lt;summary&gt;1!&lt;/summary&gt;&lt;/details&gt;&lt;/article&gt;`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if complaints != "" || !strings.Contains(page, `data-tag="2"`) {
		t.Errorf("%s%.300s", complaints, page)
	}
}
