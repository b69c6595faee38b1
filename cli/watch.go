package cli

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/internal/progress"
	"github.com/lockbench/lockbench/internal/run"
)

const (
	redraw   = 500 * time.Millisecond
	reminder = 20 * time.Second // a line, where there is no terminal and nothing else to tell
	nowLines = 4
)

// watch shows how a matrix gets on.
type watch struct {
	board  *progress.Board
	start  time.Time
	budget time.Duration
	bound  bool // the budget alone says when it ends

	mu          sync.Mutex
	before      int // runs that were done when it began
	done, total int
	cells       map[[2]string]checker.Cell
	now         []going
	stand       string    // how the shards stand, where others do the runs
	said        time.Time // when a line was written last
	quit        chan struct{}
	quitted     sync.WaitGroup
}

// going is a run that goes on.
type going struct {
	algorithm, fault, phase string
	n                       int
	since                   time.Time
}

func newWatch(b *progress.Board, budget time.Duration, until float64) *watch {
	w := &watch{board: b, start: time.Now(), said: time.Now(), budget: budget, bound: budget > 0 && until == 0,
		before: -1, cells: map[[2]string]checker.Cell{}, quit: make(chan struct{})}
	w.quitted.Go(func() {
		tick := time.NewTicker(redraw)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				w.draw()
			case <-w.quit:
				return
			}
		}
	})
	return w
}

func (w *watch) close() {
	close(w.quit)
	w.quitted.Wait()
	w.board.Close()
}

// see is told what happens.
func (w *watch) see(p run.Progress) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.before < 0 {
		w.before = p.Done
		if p.Phase == "" {
			w.before--
		}
	}
	w.done, w.total = p.Done, p.Total
	i := slices.IndexFunc(w.now, func(g going) bool { return g.algorithm == p.Algorithm && g.fault == p.Fault && g.n == p.Run })
	switch {
	case p.Phase == "" && i >= 0:
		w.now = slices.Delete(w.now, i, i+1)
	case p.Phase == "":
	case i < 0:
		w.now = append(w.now, going{p.Algorithm, p.Fault, p.Phase, p.Run, time.Now()})
	default:
		w.now[i].phase = p.Phase
	}
	if p.Phase != "" {
		return
	}
	w.cells[[2]string{p.Algorithm, p.Fault}] = p.Cell
	grave := p.Cell.Promise == checker.PromiseBroken || p.Cell.Failed > 0
	if p.Whole && (grave || !w.board.Live()) {
		w.said = time.Now()
		w.board.Say("%5.1f s [%d/%d] %s × %s: %s%s", time.Since(w.start).Seconds(), w.done, w.total, p.Algorithm, p.Fault, p.Cell.Outcome, detail(p.Cell))
	}
}

// stands is told how shards stand that others do.
func (w *watch) stands(how string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stand = how
}

// lose forgets runs that came to no end.
func (w *watch) lose(gone func(going) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = slices.DeleteFunc(w.now, gone)
}

// detail is what is worth telling of a cell beside its outcome.
func detail(c checker.Cell) string {
	s := ""
	if m := c.Mechanism; m != "" {
		s = ", " + m
	}
	if c.Promise == checker.PromiseBroken {
		s += ": a promise broke"
	}
	if c.Failed > 0 {
		s += fmt.Sprintf(", %d failed", c.Failed)
	}
	return s
}

func (w *watch) draw() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.board.Live() {
		if time.Since(w.said) >= reminder {
			w.said = time.Now()
			w.board.Say("%s", strings.Join(slices.DeleteFunc([]string{w.count(), w.stand}, func(s string) bool { return s == "" }), "; "))
		}
		return
	}
	w.board.Show(w.lines()...)
}

// lines are what a terminal shows.
func (w *watch) lines() []string {
	found := "found: "
	if w.before > 0 { // of the cells that were done before, nothing is known here
		found = "found since it goes on: "
	}
	lines := []string{w.bar() + " " + w.count(), found + w.found()}
	if w.stand != "" {
		lines = append(lines, w.stand)
	}
	for i, g := range w.now {
		if i == nowLines-1 && len(w.now) > nowLines {
			lines = append(lines, fmt.Sprintf("       and %d more", len(w.now)-i))
			break
		}
		lines = append(lines, fmt.Sprintf("%-6s %s × %s, run %d, %.0f s: %s", map[bool]string{true: "now:"}[i == 0], g.algorithm, g.fault, g.n, time.Since(g.since).Seconds(), g.phase))
	}
	return lines
}

func (w *watch) bar() string {
	if w.bound {
		return progress.Bar(float64(time.Since(w.start)) / float64(w.budget))
	}
	return progress.Bar(float64(w.done) / float64(max(1, w.total)))
}

// count is how many runs are done, and how long the others will take.
func (w *watch) count() string {
	so := time.Since(w.start)
	left := time.Duration(-1)
	if here := w.done - max(0, w.before); here > 0 && !w.bound {
		left = time.Duration(float64(so) * float64(w.total-w.done) / float64(here))
	}
	if rest := max(0, w.budget-so); w.budget > 0 && (left < 0 || rest < left) {
		left = rest
	}
	s := fmt.Sprintf("%d of %s, %s", w.done, english.Count(w.total, "run"), so.Round(time.Second))
	if w.bound {
		s = fmt.Sprintf("%s, %s", english.Count(w.done, "run"), so.Round(time.Second))
	}
	if left >= 0 {
		s += fmt.Sprintf(", about %s left", left.Round(time.Second))
	}
	return s
}

// found is how many cells there are of each outcome so far, and of broken promises.
func (w *watch) found() string {
	counts, broken := map[lb.Outcome]int{}, 0
	for _, c := range w.cells {
		counts[c.Outcome]++
		if c.Promise == checker.PromiseBroken {
			broken++
		}
	}
	var parts []string
	for _, o := range append(lb.Outcomes(), lb.Inconclusive) {
		if counts[o] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[o], o))
		}
	}
	if broken > 0 {
		parts = append(parts, fmt.Sprintf("%d not as declared", broken))
	}
	if parts == nil {
		return "nothing yet"
	}
	return strings.Join(parts, ", ")
}
