package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/cost"
	"github.com/lockbench/lockbench/internal/english"
)

// truth is what the outcome of a command says of a condition. Unknown is neither: the cell is
// missing or proves nothing, or the bound lies within the interval of the figure.
type truth int

const (
	unknown truth = iota
	no
	yes
)

func told(holds bool) truth {
	if holds {
		return yes
	}
	return no
}

// condition is about one cell of a matrix, one figure of a benchmark, one class of the orders
// of an exploration, one ensemble of a study of quorums, or one fact that servers were asked.
type condition struct {
	Lock  string `yaml:"lock"`
	Fault string `yaml:"fault"`
	// Is are the outcomes of the cell, or the worst ones of the orders, that fulfil it, with
	// spaces between them. By is the mechanism, and Every asks for harm in each of the runs.
	Is    string `yaml:"is"`
	By    string `yaml:"by"`
	Every bool   `yaml:"every"`
	// Keeps is what the algorithm claims beside being a lock, such as fair, and kept.
	Keeps string `yaml:"keeps"`
	// Tells are words of what the workload itself says of the run that decides.
	Tells string `yaml:"tells"`
	// Orders is a class of them, such as "1 expiry".
	Orders string `yaml:"orders"`

	// Figure of a benchmark, or outage of a cell, and its bounds: a number or a time.
	Figure  cost.Measure `yaml:"figure"`
	Above   string       `yaml:"above"`
	Below   string       `yaml:"below"`
	Servers cost.Servers `yaml:"servers"` // disk, where it is not said
	Clients int          `yaml:"clients"` // 1 or 16, as the figure has it
	Locks   int          `yaml:"locks"`
	// Over makes it a ratio, round by round.
	Over *other `yaml:"over"`

	// Ensemble is such as zookeeper-4. Survives is how many crashes; Split is how many servers
	// the smaller side has, and Few and Many are whether the two sides "can" lock or "can't".
	Ensemble string `yaml:"ensemble"`
	Survives *int   `yaml:"survives"`
	Split    int    `yaml:"split"`
	Few      string `yaml:"few"`
	Many     string `yaml:"many"`

	// Fact is question/name, such as etcd-counts/key-begins-at-one, and Holds whether it has to.
	Fact  string `yaml:"fact"`
	Holds *bool  `yaml:"holds"`
}

// other is the figure that a ratio is to: what is not said is as in the condition.
type other struct {
	Lock    string       `yaml:"lock"`
	Servers cost.Servers `yaml:"servers"`
	Clients int          `yaml:"clients"`
	Locks   int          `yaml:"locks"`
}

func (c condition) check() error {
	kinds := 0
	for _, is := range []bool{c.Fault != "", c.Fault == "" && c.Figure != "", c.Orders != "", c.Ensemble != "", c.Fact != ""} {
		if is {
			kinds++
		}
	}
	if kinds != 1 {
		return fmt.Errorf("a condition is about one thing: %+v", c)
	}
	for _, o := range strings.Fields(c.Is) {
		if !lb.Outcome(o).Decided() {
			return fmt.Errorf("%q is no outcome", o)
		}
	}
	for _, text := range []string{c.Above, c.Below} {
		if _, err := number(text); err != nil {
			return err
		}
	}
	if bound := c.Above != "" || c.Below != ""; bound != (c.Figure != "") {
		return fmt.Errorf("a figure and a bound go together: %+v", c)
	}
	switch {
	case c.Figure != "" && names[c.Figure] == "", c.Fault != "" && c.Figure != "" && c.Figure != cost.Outage:
		return fmt.Errorf("there is no such figure: %+v", c)
	case (c.Fact != "") != (c.Holds != nil):
		return fmt.Errorf("a fact holds or does not: %+v", c)
	case c.Figure == "" && c.Fact == "" && c.Is == "" && c.By == "" && c.Keeps == "" && c.Tells == "" && c.Ensemble == "" && !c.Every:
		return fmt.Errorf("a condition that always holds: %+v", c)
	}
	return nil
}

// number reads a number, or a time in nanoseconds; nothing is 0.
func number(text string) (float64, error) {
	if n, err := strconv.ParseFloat(cmp.Or(text, "0"), 64); err == nil {
		return n, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%q is neither a number nor a time", text)
	}
	return float64(d), nil
}

// on is what the facts say of it, and what they are.
func (c condition) on(f *facts) (truth, string) {
	switch {
	case c.Fact != "":
		return c.onFact(f)
	case c.Ensemble != "":
		return c.onEnsemble(f)
	case c.Orders != "":
		return c.onOrders(f)
	case c.Fault != "":
		return c.onCell(f)
	}
	return c.onFigure(f)
}

// bounded is whether an interval lies within the bounds. Where it has a bound inside, nobody knows.
func (c condition) bounded(low, high float64) truth {
	t := yes
	if c.Above != "" {
		above, _ := number(c.Above) // check has read it
		t = both(t, either(low > above, high <= above))
	}
	if c.Below != "" {
		below, _ := number(c.Below)
		t = both(t, either(high < below, low >= below))
	}
	return t
}

// either is unknown where it neither holds nor fails.
func either(holds, fails bool) truth {
	switch {
	case holds:
		return yes
	case fails:
		return no
	}
	return unknown
}

// both is no if one of the two is, and yes if both are.
func both(a, b truth) truth {
	switch {
	case a == no || b == no:
		return no
	case a == yes && b == yes:
		return yes
	}
	return unknown
}

func (c condition) onCell(f *facts) (truth, string) {
	i := slices.IndexFunc(f.Cells, func(x cell) bool { return x.Algorithm == c.Lock && x.Fault == c.Fault })
	if i < 0 {
		return unknown, fmt.Sprintf("%s × %s is missing", c.Lock, c.Fault)
	}
	x := f.Cells[i]
	if x.Outcome == lb.Inconclusive || x.Outcome == lb.NotAvailable || x.Share == nil {
		return unknown, x.String()
	}
	t := yes
	if c.Is != "" {
		t = told(slices.Contains(strings.Fields(c.Is), string(x.Outcome)))
	}
	if c.By != "" {
		t = both(t, told(x.Mechanism == c.By))
	}
	if c.Every {
		t = both(t, told(x.Share.Broke == x.Share.Of))
	}
	if c.Keeps != "" {
		t = both(t, told(!slices.ContainsFunc(x.Claims, func(s string) bool { return strings.HasPrefix(s, c.Keeps+":") })))
	}
	says := x.String()
	if c.Tells != "" {
		t = both(t, either(strings.Contains(x.Told, c.Tells), x.Told != ""))
		says += "; the run that decides: " + cmp.Or(x.Told, "says nothing")
	}
	if c.Figure == cost.Outage {
		ns := x.OutageMS * float64(time.Millisecond)
		t = both(t, c.bounded(ns, ns))
		says += ", longest outage " + shown(ns, "ns")
	}
	if c.Keeps != "" {
		says += map[bool]string{true: ", ", false: ", not "}[t == yes] + c.Keeps
	}
	return t, says
}

func (c condition) onOrders(f *facts) (truth, string) {
	i := slices.IndexFunc(f.Explored, func(x explored) bool { return x.Plan.Algorithm == c.Lock })
	if i < 0 {
		return unknown, c.Lock + " was not explored"
	}
	for _, class := range f.Explored[i].Classes {
		if class.Name != c.Orders {
			continue
		}
		says := fmt.Sprintf("%s, %s: %s", c.Lock, c.Orders, class)
		came := class.worst()
		if came == "" {
			return unknown, says
		}
		return told(slices.Contains(strings.Fields(c.Is), string(came))), says
	}
	return unknown, fmt.Sprintf("%s: no order with %s", c.Lock, c.Orders)
}

func (c condition) onFact(f *facts) (truth, string) {
	one, ok := f.Asked[c.Fact]
	if !ok {
		return unknown, c.Fact + " was not asked"
	}
	return told(one.Holds == *c.Holds), one.Saw
}

func (c condition) onEnsemble(f *facts) (truth, string) {
	for _, e := range f.Ensembles {
		if fmt.Sprintf("%s-%d", e.Kind, e.Servers) != c.Ensemble {
			continue
		}
		t, says := yes, c.Ensemble
		if c.Survives != nil {
			t, says = told(e.Survives == *c.Survives), fmt.Sprintf("%s survives %s", says, english.Count(e.Survives, "crash"))
		}
		if c.Split > len(e.Splits) {
			return unknown, says + " has no such split"
		}
		if c.Split > 0 {
			s := e.Splits[c.Split-1]
			t = both(t, both(told(c.Few == "" || can(s.Few.Locks) == c.Few), told(c.Many == "" || can(s.Many.Locks) == c.Many)))
			says = fmt.Sprintf("%s split into %d and %d: the %d %s lock, the %d %s", says, s.Few.Servers, s.Many.Servers, s.Few.Servers, can(s.Few.Locks), s.Many.Servers, can(s.Many.Locks))
		}
		return t, says
	}
	return unknown, c.Ensemble + " was not measured"
}

func can(locks bool) string {
	if locks {
		return "can"
	}
	return "can't"
}
