package gate

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Entry is a limit as lockbench.yaml has it: its text alone, or with the algorithms that
// it is for.
type Entry struct {
	Algorithm string `yaml:"algorithm"` // a pattern, "" for any
	Text      string `yaml:"limit"`

	limit Limit
}

// UnmarshalYAML reads both forms.
func (e *Entry) UnmarshalYAML(decode func(any) error) error {
	if decode(&e.Text) == nil {
		return nil
	}
	type plain Entry
	return decode((*plain)(e))
}

// Limit is a figure and its bound: "p(99) < 5ms", or "handoff >= 0.9 * baseline".
type Limit struct {
	Text   string
	Figure string // as [Figures] knows it
	Op     string // < <= > >=
	// Bound in the figure's unit; of a figure that is compared with another, the share of it.
	Bound float64
	To    To
}

// To is what a figure is compared with, if at all.
type To string

// What a figure is compared with.
const (
	Itself   To = ""
	Baseline To = "baseline" // that of the benchmark's baseline lock
	Before   To = "before"   // the same in the benchmark of before
)

// Figures looks up what a benchmark has measured.
type Figures interface {
	// Algorithms are those that were measured.
	Algorithms() []string
	// Figure is what was measured of an algorithm, in seconds, per second or as a plain
	// number; where it is compared, as a share. missing says why there is none, and is "" where
	// there is.
	Figure(algorithm, figure string, to To) (e Estimate, missing string)
}

// Estimate is a median with the interval in which it lies.
type Estimate struct {
	Median, Low, High float64
	// Few: there were too few values for an interval, and Low and High are the least and the greatest of them.
	Few bool
}

// kind is what a figure is measured in.
type kind string

const (
	aTime   kind = "a time, such as 5ms"
	aRate   kind = "a number per second, such as 200 or 200/s"
	aNumber kind = "a number, such as 4"
	aShare  kind = "a share, such as 0.9 or 90%"
)

// figures are those that have a limit; p(50) and p(99) are quantiles of the time from one
// holder to the next.
var figures = map[string]kind{
	"cycle": aTime, "longest": aTime, "outage": aTime, "p(50)": aTime, "p(99)": aTime,
	"grants": aRate, "handoff": aRate,
	"requests": aNumber, "bytes": aNumber, "packets": aNumber, "wakeups": aNumber,
	"fairness": aShare, "barging": aShare,
}

var (
	limitForm = regexp.MustCompile(`^\s*([a-z][a-z-]*|p\([0-9.]+\))\s*(<=|>=|<|>)\s*(\S.*?)\s*$`)
	shareForm = regexp.MustCompile(`^(?:([0-9.]+)\s*\*\s*)?(baseline|before)$`)
)

// ParseLimit reads a limit.
func ParseLimit(text string) (Limit, error) {
	m := limitForm.FindStringSubmatch(text)
	if m == nil {
		return Limit{}, fmt.Errorf("%q is no limit, such as p(99) < 5ms or handoff >= 0.9 * baseline", text)
	}
	l := Limit{Text: strings.Join(m[1:], " "), Figure: m[1], Op: m[2]}
	of, known := figures[l.Figure]
	if !known {
		return Limit{}, fmt.Errorf("unknown figure %q; there are %s", l.Figure, strings.Join(slices.Sorted(maps.Keys(figures)), ", "))
	}
	var err error
	if b := shareForm.FindStringSubmatch(m[3]); b != nil {
		l.To, l.Bound = To(b[2]), 1
		if b[1] != "" {
			l.Bound, err = strconv.ParseFloat(b[1], 64)
		}
	} else {
		l.Bound, err = of.parse(m[3])
	}
	if err != nil || l.Bound <= 0 {
		return Limit{}, fmt.Errorf("%q: the bound of %s is %s, or such as 0.9 * baseline or 0.9 * before", text, l.Figure, of)
	}
	return l, nil
}

// ParseShare reads a share, such as 0.1 or 10%.
func ParseShare(text string) (float64, error) {
	v, err := aShare.parse(text)
	if err != nil {
		err = fmt.Errorf("%q is not %s", text, aShare)
	}
	return v, err
}

func (k kind) parse(s string) (v float64, err error) {
	number := func(s string) (float64, error) {
		if strings.Trim(s, "0123456789.") != "" {
			return 0, errors.New("not a plain number")
		}
		return strconv.ParseFloat(s, 64)
	}
	switch k {
	case aTime:
		d, err := time.ParseDuration(s)
		return d.Seconds(), err
	case aRate:
		return number(strings.TrimSuffix(s, "/s"))
	case aShare:
		if percent, ok := strings.CutSuffix(s, "%"); ok {
			v, err = number(percent)
			return v / 100, err
		}
	}
	return number(s)
}

// Exceeded reports whether the whole interval is past the bound. Where only a part of it
// is, noise alone may have done it.
func (l Limit) Exceeded(e Estimate) bool {
	switch l.Op {
	case "<":
		return e.Low >= l.Bound
	case "<=":
		return e.Low > l.Bound
	case ">":
		return e.High <= l.Bound
	}
	return e.High < l.Bound
}

// tell writes an estimate beside the limit's bound.
func (l Limit) tell(e Estimate) string {
	write := func(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }
	if figures[l.Figure] == aTime {
		write = func(v float64) string {
			if math.IsInf(v, 1) {
				return "never"
			}
			return time.Duration(v * float64(time.Second)).String()
		}
	}
	if l.To != Itself {
		write = func(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) + " × " + string(l.To) }
	}
	if e.Few {
		return fmt.Sprintf("%s (from %s to %s, of too few rounds for an interval)", write(e.Median), write(e.Low), write(e.High))
	}
	return fmt.Sprintf("%s (95%% interval %s to %s)", write(e.Median), write(e.Low), write(e.High))
}

// limits holds the figures to every limit. Without any, or where one is missing, there is
// no data.
func (c Config) limits(measured Figures) (found []Finding) {
	for _, entry := range c.Limits {
		l, some := entry.limit, false
		algorithms := measured.Algorithms()
		for _, a := range algorithms {
			if !matches(entry.Algorithm, a) {
				continue
			}
			some = true
			e, missing := measured.Figure(a, l.Figure, l.To)
			switch {
			case missing != "":
				found = append(found, Finding{Kind: NoData, Algorithm: a, Limit: l.Text, Says: missing})
			case l.Exceeded(e) && e.Few:
				found = append(found, Finding{Kind: Undecided, Algorithm: a, Limit: l.Text, Says: l.tell(e) + ": noise alone may have done it; 6 rounds or more make an interval"})
			case l.Exceeded(e):
				found = append(found, Finding{Kind: Slow, Algorithm: a, Limit: l.Text, Says: l.tell(e)})
			}
		}
		if !some {
			says := "no benchmark of such a lock was given"
			if len(algorithms) == 0 {
				says = "no benchmark was given"
			}
			found = append(found, Finding{Kind: NoData, Algorithm: entry.Algorithm, Limit: l.Text, Says: says})
		}
	}
	return found
}
