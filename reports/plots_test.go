package reports

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"gonum.org/v1/plot"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/cost"
)

// pageOfPlots is a page with plots of every kind: of a matrix, and of two benchmarks.
func pageOfPlots(t *testing.T) (text string, nodes []*html.Node) {
	t.Helper()
	dir := t.TempDir()
	writeMatrix(t, filepath.Join(dir, "matrix"), sampleCells()[:18], 1)
	saved(t, filepath.Join(dir, "one"), sampleBench())
	saved(t, filepath.Join(dir, "two"), sampleBench())
	path, err := Joined([]string{filepath.Join(dir, "matrix"), filepath.Join(dir, "one"), filepath.Join(dir, "two")}, filepath.Join(dir, "all.html"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := html.Parse(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	for n := range doc.Descendants() {
		nodes = append(nodes, n)
	}
	return string(b), nodes
}

// all are the elements of that name below n.
func all(n *html.Node, name string) (list []*html.Node) {
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && d.Data == name {
			list = append(list, d)
		}
	}
	return list
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

func figuresOf(nodes []*html.Node) (list []*html.Node) {
	for _, n := range nodes {
		if n.Data == "figure" && slices.Contains(strings.Fields(attr(n, "class")), "plot") {
			list = append(list, n)
		}
	}
	return list
}

// TestPlotsHaveNames: each plot has a name and a description of its own, and a caption.
func TestPlotsHaveNames(t *testing.T) {
	_, nodes := pageOfPlots(t)
	ids, said := map[string]int{}, map[string]int{}
	for _, n := range nodes {
		ids[attr(n, "id")]++
	}
	figures := figuresOf(nodes)
	if len(figures) < 15 {
		t.Errorf("only %d plots", len(figures))
	}
	for _, f := range figures {
		svgs, captions := all(f, "svg"), all(f, "figcaption")
		if len(svgs) != 1 || len(captions) != 1 {
			t.Fatalf("a figure with %d plots and %d captions", len(svgs), len(captions))
		}
		caption, labels := textOf(captions[0]), strings.Fields(attr(svgs[0], "aria-labelledby"))
		if attr(svgs[0], "role") != "img" || len(labels) != 2 {
			t.Errorf("%s: role %q, labelled by %q", caption, attr(svgs[0], "role"), labels)
		}
		for i, name := range []string{"title", "desc"} {
			e := all(svgs[0], name)
			if len(e) != 1 || i < len(labels) && attr(e[0], "id") != labels[i] || ids[attr(e[0], "id")] != 1 || len(textOf(e[0])) < 6 {
				t.Errorf("%s: its <%s> is no name", caption, name)
			}
		}
		said["title "+textOf(all(svgs[0], "title")[0])]++
		said["caption "+caption]++
		if len(caption) < 30 {
			t.Errorf("a caption that says nothing: %q", caption)
		}
	}
	for s, n := range said {
		if n > 1 {
			t.Errorf("%d plots have the same %s", n, s)
		}
	}
}

type rgb [3]float64

func hexColour(t *testing.T, s string) rgb {
	t.Helper()
	v, err := strconv.ParseUint(strings.TrimPrefix(s, "#"), 16, 32)
	if err != nil {
		t.Fatalf("colour %q: %v", s, err)
	}
	if len(s) == 4 { // #abc
		v = v>>8*0x110000 | v>>4&15*0x1100 | v&15*0x11
	}
	return rgb{float64(v >> 16), float64(v >> 8 & 255), float64(v & 255)}
}

// over is the colour as it looks on a background, if that shines through.
func (c rgb) over(back rgb, opacity float64) (out rgb) {
	for i := range c {
		out[i] = c[i]*opacity + back[i]*(1-opacity)
	}
	return out
}

// contrast is that of WCAG 2: https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio
func contrast(a, b rgb) float64 {
	light := func(c rgb) float64 {
		var l [3]float64
		for i, v := range c {
			if l[i] = v / 255 / 12.92; v/255 > .04045 {
				l[i] = math.Pow((v/255+.055)/1.055, 2.4)
			}
		}
		return .2126*l[0] + .7152*l[1] + .0722*l[2] + .05
	}
	x, y := light(a), light(b)
	return max(x, y) / min(x, y)
}

// TestPlotsCanBeSeen: on the page's background, in both of its colour schemes, text has a
// contrast of 4.5 or more, and what else carries a meaning one of 3.
func TestPlotsCanBeSeen(t *testing.T) {
	if c := contrast(hexColour(t, "#000"), hexColour(t, "#ffffff")); math.Abs(c-21) > .01 {
		t.Fatalf("black on white has a contrast of %v", c)
	}
	text, nodes := pageOfPlots(t)
	schemes := func(name string) (list []rgb) {
		for _, m := range regexp.MustCompile(`--`+name+`:\s*(#[0-9a-f]+)`).FindAllStringSubmatch(text, -1) {
			list = append(list, hexColour(t, m[1]))
		}
		return list
	}
	backs, inks := schemes("bg"), schemes("ink")
	if len(backs) != 2 || len(inks) != 2 || contrast(backs[0], backs[1]) < 10 {
		t.Fatalf("two colour schemes wanted: %v, %v", backs, inks)
	}
	if !regexp.MustCompile(`\.plot svg \{[^}]*[^-]color: var\(--ink\)`).MatchString(text) {
		t.Error("the styles don't give plots the page's colour of text")
	}
	for i, back := range backs {
		if c := contrast(back, inks[i]); c < 4.5 {
			t.Errorf("text has a contrast of %.2f", c)
		}
	}
	seen := map[string]bool{}
	style := regexp.MustCompile(`(fill|stroke):([^;]+)(?:;(?:fill|stroke)-opacity:([0-9.]+))?`)
	for _, f := range figuresOf(nodes) {
		svg := all(f, "svg")[0]
		if attr(svg, "fill") != "currentColor" {
			t.Errorf("what has no colour is black in %s", textOf(all(svg, "title")[0]))
		}
		for _, e := range all(svg, "text") {
			if attr(e, "style") != "" || attr(e, "fill") != "" || attr(e, "textlength") == "" && attr(e, "textLength") == "" {
				t.Errorf("a text of another colour, or of unknown length: %v", e.Attr)
			}
		}
		for _, e := range all(svg, "path") {
			s := attr(e, "style")
			for _, m := range style.FindAllStringSubmatch(s, -1) {
				if m[2] == "none" || seen[m[0]] {
					continue
				}
				seen[m[0]] = true
				opacity := 1.0
				if m[3] != "" {
					opacity, _ = strconv.ParseFloat(m[3], 64)
				}
				if math.Abs(opacity-float64(faintColour.A)/255) < .001 {
					continue // behind the data
				}
				for i, back := range backs {
					c := inks[i]
					if m[2] != "currentColor" {
						c = hexColour(t, strings.ToLower(m[2]))
					}
					if r := contrast(c.over(back, opacity), back); r < 3 {
						t.Errorf("%s has a contrast of %.2f on %v", m[0], r, back)
					}
				}
			}
		}
	}
	if len(seen) < 4 {
		t.Errorf("only the colours %v", seen)
	}
	for _, c := range palette { // also those that no plot of the sample needs
		for _, back := range append(backs, rgb{255, 255, 255}) {
			if r := contrast(rgb{float64(c.R), float64(c.G), float64(c.B)}, back); r < 3 {
				t.Errorf("%v has a contrast of %.2f on %v", c, r, back)
			}
		}
	}
}

// TestAxesHaveMarks: a logarithmic axis of whatever range has three to seven labels, which
// differ, and none outside.
func TestAxesHaveMarks(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		lo := math.Pow(10, random.Float64()*10-3)
		r := reach{lo, lo * math.Pow(10, random.Float64()*random.Float64()*10)}.wide()
		if r.hi < 1.99*r.lo {
			t.Fatalf("%v is shown as %v", lo, r)
		}
		for _, label := range []func(float64) string{plain, timeMark} {
			said := map[string]bool{}
			for _, tick := range (logTicks{label}).Ticks(r.lo, r.hi) {
				if tick.Value < r.lo || tick.Value > r.hi || said[tick.Label] && tick.Label != "" {
					t.Fatalf("from %v to %v: %v at %v", r.lo, r.hi, tick.Label, tick.Value)
				}
				said[tick.Label] = true
			}
			delete(said, "")
			if len(said) < 3 || len(said) > 7 {
				t.Fatalf("from %v to %v: %v", r.lo, r.hi, said)
			}
		}
	}
}

func TestMarks(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		want   string
	}{
		{1, 1000, "1 ms, 10 ms, 100 ms, 1 s"},
		{.02, 30, "100 µs, 1 ms, 10 ms"},
		{3, 40, "5 ms, 10 ms, 20 ms"},
		{1.2, 80, "2 ms, 5 ms, 10 ms, 20 ms, 50 ms"},
		{1.2, 700, "3 ms, 10 ms, 30 ms, 100 ms, 300 ms"},
		{400, 5000, "500 ms, 1 s, 2 s, 5 s"},
		{12, 19, "12 ms, 14 ms, 16 ms, 18 ms"},
		{1e-3, 1e6, "10 µs, 1 ms, 100 ms, 10 s, 1000 s"},
	} {
		var labels []string
		for _, v := range marks(c.lo, c.hi) {
			labels = append(labels, timeMark(v))
		}
		if got := strings.Join(labels, ", "); got != c.want {
			t.Errorf("from %v to %v ms: %s instead of %s", c.lo, c.hi, got, c.want)
		}
	}
}

// TestPlotsHaveMarks: so have the axes of all plots.
func TestPlotsHaveMarks(t *testing.T) {
	narrow := sampleBench()
	for _, c := range narrow.Cells { // all the same, so that axes would have no length
		for _, f := range c.Figures {
			f.Summary = cost.Summary{Median: 1, Low: 1, High: 1}
		}
	}
	outage, ok := outageFigure(newGrid(sampleCells(), 5))
	if !ok {
		t.Fatal("no outage")
	}
	list := []figure{outage}
	for _, b := range []*cost.Bench{sampleBench(), narrow} {
		for _, g := range benchPlots(b) {
			list = append(list, g.figures...)
		}
	}
	for _, f := range list {
		for _, a := range []plot.Axis{f.plot.X, f.plot.Y} {
			if _, rows := a.Tick.Marker.(plot.ConstantTicks); rows {
				continue
			}
			n := 0
			for _, tick := range a.Tick.Marker.Ticks(a.Min, a.Max) {
				if tick.Label != "" && tick.Value >= a.Min && tick.Value <= a.Max {
					n++
				}
			}
			if n < 3 {
				t.Errorf("%s: %d marks on the axis %q from %v to %v", f.Title, n, a.Label.Text, a.Min, a.Max)
			}
		}
	}
}

// TestDotsOfNothing: what is 0 has no place on a logarithmic axis, and is named instead; the
// control has no row.
func TestDotsOfNothing(t *testing.T) {
	b := sampleBench()
	b.Find(cost.Contended("redis-fenced", cost.Disk)).Figures[cost.HandOffs] = &cost.Figure{Values: []cost.Value{{}}}
	delete(b.Find(cost.Contended("redis-fenced", cost.Memory)).Figures, cost.HandOffs)
	f := benchPlots(b)[0].figures[1]
	if !strings.Contains(f.Caption, "; disk: from ") || !strings.HasSuffix(f.Caption, ". None at all: redis-fenced.") {
		t.Errorf("%q", f.Caption)
	}
	for _, tick := range f.plot.Y.Tick.Marker.Ticks(0, 0) {
		if tick.Label == "none" || tick.Label == "redis-fenced" {
			t.Errorf("%s has a row", tick.Label)
		}
	}
}

func TestFromTo(t *testing.T) {
	e := func(name string, v float64) end { return end{name, v, fmt.Sprint(v)} }
	for _, c := range []struct {
		list []end
		want string
	}{
		{nil, ""},
		{[]end{e("a", 3)}, ": 3 (a)"},
		{[]end{e("a", 3), e("b", 1), e("c", 2)}, ": from 1 (b) to 3 (a)"},
		{[]end{e("a", 1), e("b", 1), e("c", 1)}, ": 1 (3 locks)"},
		{[]end{e("a", 1), e("b", .5), e("c", 1)}, ": from 0.5 (b) to 1 (a and c)"},
	} {
		if got := fromTo(c.list); got != c.want {
			t.Errorf("%q instead of %q", got, c.want)
		}
	}
}

// TestSizes: a matrix of a few cells has letters to be read on a phone, where its names and the
// pieces of its heads have their room; a large one has small letters.
func TestSizes(t *testing.T) {
	var few, many []checker.Cell
	for i, lock := range []string{"redis-setnx-expire", "etcd-lease", "zk-sequential", "lock-4", "lock-5", "lock-6", "lock-7", "lock-8", "lock-9", "lock-10", "lock-11", "lock-12", "lock-13"} {
		for _, fault := range []string{"none", "pause@before-write", "failover", "cut-halves", "server-clock", "client-clock:drift"} {
			c := checker.Cell{Algorithm: lock, Fault: fault, Outcome: lb.Safe}
			if many = append(many, c); i < 8 {
				few = append(few, c)
			}
		}
	}
	small, large := sizesFor(newGrid(many, 1)), sizesFor(newGrid(few, 1))
	if small.wrapped || !large.wrapped || large.letters < 2*small.letters {
		t.Errorf("few cells: %+v; many: %+v", large, small)
	}
	if got := strings.Join(pieces("client-clock:drift"), " "); got != "client- clock: drift" {
		t.Errorf("wrapped as %q", got)
	}
	few = append(few, checker.Cell{Algorithm: "etcd-lease", Fault: "unbreakablyspelled", Outcome: lb.Safe})
	if s := sizesFor(newGrid(few, 1)); s.wrapped || s.heads(newGrid(few, 1)) < 200 {
		t.Errorf("a name of one piece that is wider than its column: %+v", s)
	}
}
