package reports

import (
	"fmt"
	"io"
	"strings"

	"github.com/lockbench/lockbench/internal/cost"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/internal/gate"
)

// listedFigures are how many figures of a kind are told one by one.
const listedFigures = 40

// costSummary says in a sentence or two what became of the figures that decide, "" where
// nothing was measured.
func (c Compared) costSummary() string {
	p := c.Performance
	switch {
	case p.Vanished():
		return "What it costs was measured before, and is no more."
	case !p.Compared():
		return ""
	}
	decide, parts := 0, []string{}
	for _, f := range p.Figures {
		if f.Decides {
			decide++
		}
	}
	for _, t := range gate.FigureTrends {
		if n := len(p.Trends(t, true)); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, t))
		}
	}
	verb := "decide"
	if decide == 1 {
		verb = "decides"
	}
	s := fmt.Sprintf("%s %s on the costs: %s.", english.Count(decide, "figure"), verb, strings.Join(parts, ", "))
	if decide == 0 {
		s = "No figure decides on the costs."
	}
	if !p.Quiet {
		s += " The machine was not quiet: hand-offs and what waits for the disk are the neighbours’ as much as the lock’s, and decide nothing."
	}
	return s
}

// changedCosts are the figures that are not what they were, those that decide before the
// others, the worst first.
func (c Compared) changedCosts() (list []gate.Figure) {
	for _, decides := range []bool{true, false} {
		for _, t := range gate.FigureTrends {
			if t != gate.Same && t != gate.Unclear && (decides || t != gate.Unsure && t != gate.New) {
				list = append(list, c.Performance.Trends(t, decides)...)
			}
		}
	}
	return list
}

// measureNames are those that a column's head could be.
var measureNames = map[cost.Measure]string{
	cost.Cycle: "acquire and release", cost.Grants: "grants per second", cost.HandOffs: "hand-offs per second",
	cost.P50: "median of a hand-off", cost.P99: "99% of a hand-off", cost.Barges: "barging", cost.Overlaps: "overlaps",
	cost.Fair: "fairness", cost.Longest: "longest wait", cost.Requests: "requests per grant", cost.Bytes: "bytes per grant",
	cost.Packets: "packets a grant", cost.WakeUps: "wake-ups a grant", cost.ServerNS: "servers’ processor time a grant",
	cost.ClientNS: "clients’ processor time a grant", cost.Resident: "servers’ memory", cost.Outage: "outage after a death",
}

// figureName is what was measured, and how: all but the lock.
func figureName(f gate.Figure) string {
	name, how := measureNames[f.Measure], english.Count(f.Clients, "client")
	if f.Loop == cost.Open {
		how = "at a rate, " + how
		name = strings.Replace(name, "hand-off", "wait", 1)
	}
	if f.Clients == 1 {
		how = "alone"
	}
	if f.Locks > 1 {
		how += " on " + english.Count(f.Locks, "lock")
	}
	return fmt.Sprintf("%s, %s, %s", name, how, f.Servers)
}

// inUnit is a median in the unit of the figure.
func inUnit(unit string, s *cost.Summary) string {
	if s == nil {
		return absent
	}
	f := &cost.Figure{Summary: *s}
	switch unit, _, _ := strings.Cut(unit, "/"); unit {
	case "ns":
		return duration(f)
	case "B":
		return inBytes(f)
	case "share":
		return percent(f)
	}
	return number3(f)
}

// factor writes a ratio; 0 is none.
func factor(ratio float64) string {
	if ratio == 0 {
		return ""
	}
	return "×" + digits(ratio)
}

// interval is where the ratio lies.
func interval(d *cost.Difference) string {
	switch {
	case d == nil:
		return ""
	case d.Confidence == 0:
		return "too few rounds for an interval"
	}
	return digits(d.Low) + " to " + digits(d.High)
}

// tellCost says how a figure differs.
func tellCost(f gate.Figure) string {
	s := fmt.Sprintf("%s → %s", inUnit(f.Unit, f.Itself.Base), inUnit(f.Unit, f.Itself.Head))
	d := f.Counts().Difference
	switch {
	case d == nil:
		return s
	case d.Least == 1 && f.Relative == nil:
		return s + ", in every round"
	}
	if f.Relative != nil {
		s += fmt.Sprintf(", %s; held against the %s of the same rounds", factor(f.Itself.Medians()), f.Yardstick)
	}
	return fmt.Sprintf("%s %s (%s), p = %s", s, factor(d.Ratio), interval(d), pText(f.P))
}

func pText(p float64) string {
	switch {
	case p < .0001:
		return "0.0001 or less"
	case p > .1:
		return fmt.Sprintf("%.1f", p)
	}
	return fmt.Sprintf("%.2g", p)
}

// costs writes what became of the figures.
func (t terminal) costs(c Compared) {
	if !c.Performance.Compared() {
		return
	}
	changed := c.changedCosts()
	rest := append(c.Performance.Trends(gate.Unclear, true), c.Performance.Trends(gate.Same, true)...)
	tell := func(f gate.Figure, says string) {
		t.line(t.paint("1", fmt.Sprintf("%s, %s: %s", f.Algorithm, figureName(f), says)))
		t.text("    ", tellCost(f))
		t.text("    ", f.Why)
	}
	for i, f := range changed {
		if i == listedFigures {
			t.line(fmt.Sprintf("… and %d more on the page (--html)", len(changed)-i))
			break
		}
		says := string(f.Trend)
		if !f.Decides {
			says += ", which decides nothing"
		}
		t.line("")
		tell(f, says)
	}
	for i, f := range rest {
		if i == 0 {
			t.line("")
		}
		if i == listedFigures {
			t.line(fmt.Sprintf("… and %d more that are the same, or unclear", len(rest)-i))
			break
		}
		t.text("", fmt.Sprintf("%s, %s, %s: %s", f.Algorithm, figureName(f), f.Trend, tellCost(f)))
	}
}

// markdownCosts writes the figures that changed, side by side.
func (c Compared) markdownCosts(b io.Writer) {
	changed := c.changedCosts()
	if len(changed) == 0 {
		return
	}
	fmt.Fprint(b, "\n| | lock | figure | base | head | in itself | held against the yardstick | p |\n|---|---|---|--:|--:|--:|--:|--:|\n")
	for i, f := range changed {
		if i == listedFigures {
			fmt.Fprintf(b, "\n… and %d more.\n", len(changed)-i)
			break
		}
		trend, held := string(f.Trend), ""
		if f.Decides {
			trend = "**" + trend + "**"
		}
		if d := f.Counts().Difference; d != nil {
			held = factor(d.Ratio) + " (" + interval(d) + ")"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", trend, escapeMD(f.Algorithm), figureName(f),
			inUnit(f.Unit, f.Itself.Base), inUnit(f.Unit, f.Itself.Head), factor(f.Itself.Medians()), held, pText(f.P))
	}
}
