package gate

import (
	"fmt"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/internal/rundir"
)

// Failure is how a gate fails.
type Failure string

// The failures, the gravest first.
const (
	Broken    Failure = "broken promise"
	Blind     Failure = "known break not seen" // the bench can't see what it must
	Slow      Failure = "limit exceeded"
	Undecided Failure = "undecided"
	NoData    Failure = "no data"
)

// Finding is one reason for a gate to fail.
type Finding struct {
	Kind      Failure `json:"kind"`
	Algorithm string  `json:"algorithm,omitempty"`
	Fault     string  `json:"fault,omitempty"`
	Limit     string  `json:"limit,omitempty"`
	// Outcome is the cell's, and Says why it is a reason to fail.
	Outcome  lb.Outcome `json:"outcome,omitempty"`
	Says     string     `json:"says"`
	Declared string     `json:"declared,omitempty"`
	// Again is the command that reproduces it, as far as there is one.
	Again string `json:"again,omitempty"`
}

// Where names what the finding is about.
func (f Finding) Where() string {
	switch {
	case f.Limit != "" && f.Algorithm != "":
		return f.Algorithm + ": " + f.Limit
	case f.Limit != "":
		return f.Limit
	case f.Algorithm != "":
		return f.Algorithm + " under " + f.Fault
	}
	return "the gate"
}

// Of is what one cell does to a gate; nil for nothing.
func Of(c checker.Cell) *Finding {
	f := &Finding{Algorithm: c.Row(), Fault: c.Fault, Outcome: c.Outcome, Says: c.Reason, Declared: c.Expected}
	switch {
	case c.Promise == checker.PromiseBroken && c.Outcome == lb.Safe && c.Violations == 0:
		proved := c.Runs
		if c.Share != nil {
			proved = c.Share.Of
		}
		f.Kind, f.Says = Blind, fmt.Sprintf("nothing went wrong in %s", english.Count(proved, "run"))
	case c.Promise == checker.PromiseBroken:
		f.Kind = Broken
	case c.Reason == rundir.Elsewhere && c.Runs == 0: // a shard has no say in it
		return nil
	case c.Outcome == lb.Inconclusive && c.Runs == 0 && c.Reason == rundir.NotRun:
		f.Kind = NoData
	case c.Outcome == lb.Inconclusive:
		f.Kind = Undecided
	default:
		return nil
	}
	return f
}

// Judge holds the places and the explorations to what must hold there, and what was measured to the limits. The cells are in the
// order of the places. again is the command that performs the order in a directory.
func (c Config) Judge(places []*Place, explorations []*rundir.Explored, again func(dir string) string, measured Figures) (cells []Judged, found []Finding) {
	used := make([]bool, len(c.Promises))
	some := len(explorations) > 0
	found = c.Explored(explorations, again)
	for _, p := range places {
		j, blind, n := p.cell(c)
		cells = append(cells, j)
		some = some || j.Promise != ""
		if n >= 0 && j.Outcome != lb.NotAvailable {
			used[n] = true
		}
		f := Of(j.Cell)
		switch {
		case blind != "" && (f == nil || f.Kind == Undecided):
			f = &Finding{Kind: Blind, Algorithm: j.Row(), Fault: j.Fault, Outcome: j.Outcome, Says: blind, Declared: j.Expected}
		case f == nil && p.elsewhere():
			f = &Finding{Kind: NoData, Algorithm: j.Row(), Fault: j.Fault, Outcome: j.Outcome, Says: rundir.Elsewhere + ": name what all shards have left"}
		case f == nil && j.Runs > 0 && j.Runs < p.Planned:
			f = &Finding{Kind: Undecided, Algorithm: j.Row(), Fault: j.Fault, Outcome: j.Outcome,
				Says: fmt.Sprintf("%d of %s not done", p.Planned-j.Runs, english.Count(p.Planned, "run"))}
		}
		if f != nil {
			found = append(found, *f)
		}
	}
	for i, p := range c.Promises {
		if !used[i] {
			found = append(found, Finding{Kind: NoData, Algorithm: orAny(p.Algorithm), Fault: orAny(p.Fault), Says: "promised, and nothing of it was run"})
		}
	}
	if !some && len(found) == 0 && len(c.Limits) == 0 {
		says := "nothing was promised"
		if len(cells) == 0 {
			says = "nothing was run"
		}
		found = append(found, Finding{Kind: NoData, Says: says})
	}
	return cells, append(found, c.limits(measured)...)
}

func orAny(glob string) string {
	if glob == "" {
		return "*"
	}
	return glob
}

// Only are the cells without their plans.
func Only(judged []Judged) (cells []checker.Cell) {
	for _, j := range judged {
		cells = append(cells, j.Cell)
	}
	return cells
}
