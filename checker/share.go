package checker

import (
	"fmt"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/internal/stat"
)

// Share is how many runs of a cell broke: some copy was hurt, a grant was illegal, or the
// lock stayed stuck. Low and High are the ends of the 95% interval of that share ([stat.Interval])
// in all runs that there could be, from 0 to 1.
type Share struct {
	Broke int `json:"broke"`
	// Of are the runs that proved something, by harm or by its absence.
	Of   int     `json:"of"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// NewShare is that of so many runs.
func NewShare(broke, of int) *Share {
	low, high := stat.Interval(broke, of)
	return &Share{broke, of, low, high}
}

// shareOf counts runs.
func shareOf(runs []Result) *Share {
	broke, of := 0, 0
	for _, r := range runs {
		if harmed(r) {
			broke++
			of++
		} else if r.Outcome != lb.Inconclusive && r.Outcome != lb.NotAvailable {
			of++
		}
	}
	return NewShare(broke, of)
}

// Open says what is still open of a cell that reads SAFE, such as "1 run: up to 95% could
// still break"; "" for every other. Of a run that broke one is enough.
func (c *Cell) Open() string {
	if c.Outcome != lb.Safe || c.Share == nil || c.Share.Of == 0 {
		return ""
	}
	return fmt.Sprintf("%s: up to %s%% could still break", english.Count(c.Share.Of, "run"), percent(c.Share.High))
}

// String is the share with its interval.
func (s *Share) String() string {
	return fmt.Sprintf("%d of %s (95%% interval %s–%s%%)", s.Broke, english.Count(s.Of, "run"), percent(s.Low), percent(s.High))
}

// percent has two digits and no sign, so that few runs do not look exact.
func percent(share float64) string {
	if p := 100 * share; p > 0 && p < 9.95 {
		return fmt.Sprintf("%.1f", p)
	}
	return fmt.Sprintf("%.0f", 100*share)
}
