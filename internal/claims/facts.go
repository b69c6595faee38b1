package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/cost"
	asked "github.com/lockbench/lockbench/internal/facts"
	"github.com/lockbench/lockbench/internal/rundir"
)

// facts are what a command gave, as far as conditions can ask for it.
type facts struct {
	Cells     []cell     `json:"cells,omitempty"`
	Costs     []costs    `json:"costs,omitempty"`
	Noise     []string   `json:"noise,omitempty"` // what else the machine did in a benchmark
	Explored  []explored `json:"explored,omitempty"`
	Ensembles []ensemble `json:"ensembles,omitempty"`
	// Asked is what servers themselves were asked, by question/fact.
	Asked map[string]asked.Fact `json:"asked,omitempty"`
}

// cell is that of a matrix: what docs/cells.schema.json says of it, in part.
type cell struct {
	Algorithm    string         `json:"algorithm"`
	Fault        string         `json:"fault"`
	Outcome      lb.Outcome     `json:"outcome"`
	Mechanism    string         `json:"mechanism,omitempty"`
	Runs         int            `json:"runs"`
	Share        *checker.Share `json:"share,omitempty"`
	OutageMS     float64        `json:"outage_ms"`
	Claims       []string       `json:"claims,omitempty"`
	Inconclusive int            `json:"inconclusive,omitempty"`
	Dir          string         `json:"-"`
	// Told is what the workload itself said of the run that decides, of writers that take no care.
	Told string `json:"told,omitempty"`
}

// UnmarshalJSON implements [json.Unmarshaler]: where the run lies is not worth keeping.
func (c *cell) UnmarshalJSON(text []byte) error {
	type plain cell
	lies := struct {
		*plain
		Dir string `json:"dir"`
	}{plain: (*plain)(c)}
	err := json.Unmarshal(text, &lies)
	c.Dir = lies.Dir
	return err
}

// tell reads what the workload said, from the directory of the run.
func (c *cell) tell() error {
	if c.Share == nil { // nothing was run
		return nil
	}
	run, err := rundir.OpenRun(c.Dir)
	if err != nil {
		return err
	}
	res, err := run.Result()
	for _, l := range res.Layers {
		if l.Name == checker.LayerWorkload {
			c.Told, _, _ = strings.Cut(l.Summary, ";")
		}
	}
	return err
}

// String tells it with how sure it is.
func (c cell) String() string {
	s := fmt.Sprintf("%s × %s: %s", c.Algorithm, c.Fault, c.Outcome)
	if c.Mechanism != "" {
		s += " by " + c.Mechanism
	}
	if c.Share == nil {
		return s
	}
	s += fmt.Sprintf(", harm in %d of %d runs (%s)", c.Share.Broke, c.Share.Of, percent(c.Share.Low, c.Share.High))
	if c.Inconclusive > 0 {
		s += fmt.Sprintf(", %d more proved nothing", c.Inconclusive)
	}
	return s
}

func percent(low, high float64) string {
	switch {
	case low == 0:
		return fmt.Sprintf("up to %.0f%%", 100*high)
	case high == 1:
		return fmt.Sprintf("%.0f%% or more", 100*low)
	}
	return fmt.Sprintf("%.0f to %.0f%%", 100*low, 100*high)
}

// costs are the figures of one cell of a benchmark.
type costs struct {
	cost.Key
	Never   int                           `json:"never,omitempty"`
	Figures map[cost.Measure]*cost.Figure `json:"figures,omitempty"`
}

// explored is what walking the orders of a lock gave.
type explored struct {
	Plan struct {
		Algorithm string `json:"algorithm"`
	} `json:"plan"`
	Classes []class `json:"classes"`
}

// class are the orders in which the same went wrong, by the name that conditions give it.
type class struct {
	Name     string             `json:"name"`
	Orders   int                `json:"orders"`
	Outcomes map[lb.Outcome]int `json:"outcomes"`
}

func exploredOf(x rundir.Explored) (e explored) {
	e.Plan.Algorithm = x.Plan.Algorithm
	for _, c := range x.Classes {
		e.Classes = append(e.Classes, class{c.Class.String(), c.Orders, c.Outcomes})
	}
	return e
}

func (c class) String() string {
	var s []string
	for _, o := range lb.WorstFirst() {
		if n := c.Outcomes[o]; n > 0 {
			s = append(s, fmt.Sprintf("%d %s", n, o))
		}
	}
	return fmt.Sprintf("of %d orders %s", c.Orders, strings.Join(s, ", "))
}

// worst is the worst outcome that an order came to, "" for none.
func (c class) worst() lb.Outcome {
	for _, o := range lb.WorstFirst() {
		if c.Outcomes[o] > 0 {
			return o
		}
	}
	return ""
}

// ensemble is what a study of quorums says of some servers.
type ensemble struct {
	Kind     string  `json:"kind"`
	Servers  int     `json:"servers"`
	Survives int     `json:"survives"`
	Splits   []split `json:"splits"`
}

type split struct {
	Few  side `json:"few"`
	Many side `json:"many"`
}

// side is one side of a split network, with so many servers.
type side struct {
	Servers int  `json:"servers"`
	Locks   bool `json:"locks"`
}

func (f *facts) cost(k cost.Key) *costs {
	if i := slices.IndexFunc(f.Costs, func(c costs) bool { return c.Key == k }); i >= 0 {
		return &f.Costs[i]
	}
	return nil
}

// errNothing is the outcome of a command that measured nothing.
var errNothing = errors.New("it gave nothing")

// read takes the facts out of what a verb prints with --json.
func read(verb string, out []byte) (*facts, error) {
	f := &facts{}
	var err error
	switch verb {
	case "run", "matrix":
		err = json.Unmarshal(out, f) // a matrix has them as cells, too
	case "bench":
		var b struct {
			Cells []costs
			Noise []string
		}
		err = json.Unmarshal(out, &b)
		f.Costs, f.Noise = b.Cells, b.Noise
	case "quorum":
		err = json.Unmarshal(out, f)
	case "explore":
		d := json.NewDecoder(bytes.NewReader(out))
		for err == nil {
			var x rundir.Explored
			if err = d.Decode(&x); err == nil {
				f.Explored = append(f.Explored, exploredOf(x))
			}
		}
		if errors.Is(err, io.EOF) {
			err = nil
		}
	case "facts":
		var all asked.Answers
		err = json.Unmarshal(out, &all)
		f.Asked = map[string]asked.Fact{}
		for _, a := range all.Answers {
			for _, one := range a.Facts {
				f.Asked[a.Question+"/"+one.Name] = one
			}
		}
	default:
		err = fmt.Errorf("no statement can be held against lockbench %s", verb)
	}
	if err == nil && len(f.Cells)+len(f.Costs)+len(f.Explored)+len(f.Ensembles)+len(f.Asked) == 0 {
		err = errNothing
	}
	return f, err
}

// wanted are the figures that any statement asks for.
func wanted(docs []document) (list []cost.Measure) {
	for _, d := range docs {
		for _, c := range d.Claims {
			for _, one := range slices.Concat(c.Confirmed, c.Refuted, c.Depends) {
				list = append(list, one.Figure)
			}
		}
	}
	return list
}

// keep drops the figures that nobody asks for: a benchmark has thousands.
func (f *facts) keep(wanted []cost.Measure) {
	for _, c := range f.Costs {
		for m := range c.Figures {
			if !slices.Contains(wanted, m) {
				delete(c.Figures, m)
			}
		}
	}
	f.Costs = slices.DeleteFunc(f.Costs, func(c costs) bool { return len(c.Figures) == 0 && c.Never == 0 })
}
