package reports

import (
	"context"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/testkit"
)

var pictures = flag.String("pictures", "", "write what the browser shows and prints into this directory")

// medium is what a page is looked at on: a screen, or the printable part of a page of A4
// across, in the pixels of CSS.
type medium struct {
	name, media   string
	width, height int64
}

var (
	desktop = medium{"desktop", "screen", 1280, 900}
	phone   = medium{"phone", "screen", 390, 844}
	paper   = medium{"paper", "print", 1039, 710}
)

// TestPagesInABrowser opens every kind of page and asks the browser whether it can be read:
// on a desktop, on a phone and on paper, in light and in dark.
func TestPagesInABrowser(t *testing.T) {
	tab := openTab(t)
	for name, file := range samplePages(t) {
		for _, m := range []medium{desktop, phone, paper} {
			for _, scheme := range []string{"light", "dark"} {
				t.Run(name+"/"+m.name+"/"+scheme, func(t *testing.T) {
					for _, s := range tab.look(t, file, m, scheme) {
						t.Error(s)
					}
					tab.picture(t, file, m, scheme, name+"-"+m.name+"-"+scheme)
				})
			}
		}
	}
}

// TestBrowserSeesWhatIsWrong: of a page that has every fault once, all are told, so that
// the silence about the others says something.
func TestBrowserSeesWhatIsWrong(t *testing.T) {
	tab := openTab(t)
	file, err := filepath.Abs("testdata/browser/wrong.html")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, m := range []medium{desktop, phone, paper} {
		fmt.Fprintf(&b, "%s\n  %s\n", m.name, strings.Join(tab.look(t, file, m, "light"), "\n  "))
	}
	golden(t, "browser/wrong.txt", []byte(b.String()))
}

// TestPrintedMatrix: each lock and each fault of a large matrix is on the paper.
func TestPrintedMatrix(t *testing.T) {
	tab := openTab(t)
	_, err := exec.LookPath("pdftotext")
	testkit.Need(t, "pdftotext (make browser installs it)", err)
	dir := t.TempDir()
	cells := manyCells()
	writeMatrix(t, dir, cells, 1)
	file, err := HTML(dir)
	if err != nil {
		t.Fatal(err)
	}
	tab.show(t, file, paper, "light")
	// The names stand elsewhere on the page, too.
	in(t, tab, chromedp.Evaluate[chromedp.Void](`document.querySelectorAll("main > :not(:has(.matrix))").forEach((e) => e.remove())`))
	pdf := filepath.Join(dir, "matrix.pdf")
	if err := os.WriteFile(pdf, tab.print(t), 0o644); err != nil {
		t.Fatal(err)
	}
	text, err := exec.Command("pdftotext", pdf, "-").Output()
	if err != nil {
		t.Fatal(err)
	}
	joined := func(s string) string { return strings.ReplaceAll(strings.Join(strings.Fields(s), ""), "-", "") }
	printed := joined(string(text)) // where a name is broken, its hyphen is lost
	g := newGrid(cells, 1)
	for _, name := range slices.Concat(g.Rows, g.Cols) {
		if !strings.Contains(printed, joined(name)) {
			t.Errorf("%s is not on paper", name)
		}
	}
}

// TestSheet: the first page of paper has the answer, and the appendix begins on the second, also of as
// many locks and faults as fit, with long names.
func TestSheet(t *testing.T) {
	tab := openTab(t)
	_, err := exec.LookPath("pdftotext")
	testkit.Need(t, "pdftotext (make browser installs it)", err)
	var cells []checker.Cell
	for _, c := range manyCells() {
		c.Fault = strings.Replace(c.Fault, "@step", "-at-step", 1)
		if g := newGrid(append(cells, c), 1); len(g.Rows) <= sheetRows && len(g.Cols) <= sheetCols {
			cells = append(cells, c)
		}
	}
	dir := t.TempDir()
	writeMatrix(t, dir, cells, 1)
	file, err := HTML(dir)
	if err != nil {
		t.Fatal(err)
	}
	tab.show(t, file, paper, "light")
	pdf := filepath.Join(dir, "page.pdf")
	if err := os.WriteFile(pdf, tab.print(t), 0o644); err != nil {
		t.Fatal(err)
	}
	text, err := exec.Command("pdftotext", "-layout", pdf, "-").Output()
	if err != nil {
		t.Fatal(err)
	}
	pages := strings.Split(string(text), "\f")
	for _, want := range append(newGrid(cells, 1).Rows, "at its worst", "are the appendix") {
		if !strings.Contains(pages[0], want) {
			t.Errorf("no %q on the first page:\n%s", want, pages[0])
		}
	}
	if answer := "The answer, at each"; strings.Contains(pages[0], answer) || !strings.Contains(append(pages, "")[1], answer) {
		t.Errorf("the appendix does not begin on the second page:\n%.300s", append(pages, "")[1])
	}
}

// tab is where pages are opened, one after the other, and what they did there that no page may.
type tab struct {
	ctx   context.Context
	mu    sync.Mutex
	wrong []string
	url   string // the one that may be fetched
}

// openTab starts a browser that reaches nothing but files.
func openTab(t *testing.T) *tab {
	t.Helper()
	path, err := testkit.Browser()
	testkit.Need(t, "a browser", err)
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, // it shows our own pages only
		chromedp.ProxyServer("127.0.0.1:1"), chromedp.Flag("proxy-bypass-list", "<-loopback>"))
	ctx, end := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(end)
	ctx, end = chromedp.NewContext(ctx)
	t.Cleanup(end)
	b := &tab{ctx: ctx}
	if err := chromedp.Listen(ctx, b.hear); err != nil {
		t.Fatal(err)
	}
	return b
}

// in runs an action in the tab.
func in[T any](t *testing.T, b *tab, a chromedp.Action[T]) T {
	t.Helper()
	v, err := chromedp.Run(b.ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// hear notes what a page fetches beside itself, and what it complains of.
func (b *tab) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if e.Request.URL != b.url && !strings.HasPrefix(e.Request.URL, "data:") {
			b.wrong = append(b.wrong, "fetches "+e.Request.URL)
		}
	case *runtime.EventExceptionThrown:
		what, _, _ := strings.Cut((&chromedp.ExceptionError{ExceptionDetails: e.ExceptionDetails}).Error(), "\n")
		b.wrong = append(b.wrong, what)
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeAssert {
			says := "says on the console:"
			for _, a := range e.Args {
				says += " " + string(a.Value)
			}
			b.wrong = append(b.wrong, says)
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError {
			b.wrong = append(b.wrong, "the browser says: "+e.Entry.Text)
		}
	}
}

// look opens a page and says what is wrong with it, as it is opened and with all its
// details unfolded.
func (b *tab) look(t *testing.T, file string, m medium, scheme string) []string {
	t.Helper()
	checks, err := os.ReadFile("testdata/browser/checks.js")
	if err != nil {
		t.Fatal(err)
	}
	check := fmt.Sprintf("(%s)(%d, %q)", checks, m.width, m.name)
	b.show(t, file, m, scheme)
	folded := in(t, b, chromedp.Evaluate[[]string](check))
	in(t, b, chromedp.Evaluate[chromedp.Void](`document.querySelectorAll("details").forEach((d) => { d.open = true })`))
	unfolded := in(t, b, chromedp.Evaluate[[]string](check))
	b.mu.Lock()
	defer b.mu.Unlock()
	wrong := slices.Concat(b.wrong, folded, unfolded)
	slices.Sort(wrong)
	return slices.Compact(wrong)
}

// show opens a page.
func (b *tab) show(t *testing.T, file string, m medium, scheme string) {
	t.Helper()
	b.mu.Lock()
	b.wrong, b.url = nil, (&url.URL{Scheme: "file", Path: file}).String()
	b.mu.Unlock()
	var options []chromedp.EmulateViewportOption
	if m == phone {
		options = append(options, chromedp.EmulateMobile, chromedp.EmulateTouch)
	}
	in(t, b, chromedp.Steps(
		chromedp.EmulateViewport(m.width, m.height, options...),
		chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Media:    m.media,
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
			})
			return err
		}),
		chromedp.Navigate(b.url)))
}

func (b *tab) print(t *testing.T) (pdf []byte) {
	t.Helper()
	return in(t, b, chromedp.PrintToPDF(chromedp.PDFPreferCSSPageSize(), chromedp.PDFPrintBackground()))
}

// picture writes what the tab shows of the page as it is opened, for those who asked.
func (b *tab) picture(t *testing.T, file string, m medium, scheme, name string) {
	t.Helper()
	if *pictures == "" {
		return
	}
	b.show(t, file, m, scheme)
	var what []byte
	if m == paper {
		name, what = name+".pdf", b.print(t)
	} else {
		name, what = name+".png", in(t, b, chromedp.FullScreenshot(100))
	}
	if err := os.MkdirAll(*pictures, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*pictures, name), what, 0o644); err != nil {
		t.Fatal(err)
	}
}
