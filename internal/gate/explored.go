package gate

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/internal/rundir"
)

// Exploration is an entry of the key explore: what to explore, and what must come out.
type Exploration struct {
	// Run is what to explore, by the names of the flags of lockbench explore: algorithm, and how far.
	Run map[string]any `yaml:"run"`
	// Require is the worst that an order may come to. Finds are known breaks: an order must be found that
	// comes to one of them. Without both, what the lock declares counts.
	Require lb.Outcome   `yaml:"require"`
	Finds   []lb.Outcome `yaml:"finds"`
}

// check says what is wrong, and at which key.
func (x Exploration) check() (key string, err error) {
	switch {
	case x.locks() == "":
		return "", errors.New("which lock is to be explored? algorithm: NAME")
	case x.Require != "" && len(x.Finds) > 0:
		return "", errors.New("either require (the worst that an order may come to) or finds (what some order must come to)")
	case x.Require != "" && len(lb.UpTo(x.Require)) == 0:
		return "require", notOneOf(x.Require, lb.Cares())
	}
	for i, o := range x.Finds {
		if known := promised[1:]; !slices.Contains(known, o) {
			return fmt.Sprintf("finds[%d]", i), notOneOf(o, known)
		}
	}
	return "", nil
}

// locks are the patterns of the algorithms, with commas between them.
func (x Exploration) locks() string {
	if list, ok := x.Run["algorithm"].([]any); ok {
		var names []string
		for _, v := range list {
			names = append(names, fmt.Sprint(v))
		}
		return strings.Join(names, ",")
	}
	s, _ := x.Run["algorithm"].(string)
	return s
}

func (x Exploration) matches(algorithm string) bool {
	return slices.ContainsFunc(strings.Split(x.locks(), ","), func(glob string) bool { return matches(strings.TrimSpace(glob), algorithm) })
}

// both is a lock, or a pattern, that both entries name; "" where none is seen.
func (x Exploration) both(y Exploration) string {
	for _, name := range strings.Split(y.locks(), ",") {
		if x.matches(strings.TrimSpace(name)) {
			return strings.TrimSpace(name)
		}
	}
	for _, name := range strings.Split(x.locks(), ",") {
		if y.matches(strings.TrimSpace(name)) {
			return strings.TrimSpace(name)
		}
	}
	return ""
}

// may are the outcomes that an order may come to, nil where the lock says so.
func (x Exploration) may() []lb.Outcome {
	switch {
	case x.Require != "":
		return lb.UpTo(x.Require)
	case len(x.Finds) > 0:
		return slices.Concat(lb.Cares(), x.Finds)
	}
	return nil
}

// Explored is what explorations do to a gate. again is the command that performs the order in a directory.
func (c Config) Explored(all []*rundir.Explored, again func(dir string) string) (found []Finding) {
	used := make([]bool, len(c.Explore))
	for _, e := range all {
		var says Exploration
		n := slices.IndexFunc(c.Explore, func(x Exploration) bool { return x.matches(e.Plan.Algorithm) })
		if n >= 0 {
			used[n], says = true, c.Explore[n]
		}
		if f := explored(e, says.may(), says.Finds); f != nil {
			if f.Again != "" {
				f.Again = again(filepath.Join(e.Dir, filepath.FromSlash(f.Again)))
			}
			found = append(found, *f)
		}
	}
	for i, x := range c.Explore {
		if !used[i] {
			found = append(found, Finding{Kind: NoData, Algorithm: x.locks(), Fault: anyOrder, Says: "named under explore, and none of it was explored"})
		}
	}
	return found
}

// anyOrder stands where a finding of runs has its fault.
const anyOrder = "every order"

// explored is what one exploration does, nil for nothing. may are the outcomes that its orders may come
// to, nil where the lock itself declares them, and finds are those of which one must come.
func explored(e *rundir.Explored, may, finds []lb.Outcome) *Finding {
	f := &Finding{Kind: Broken, Algorithm: e.Plan.Algorithm, Fault: anyOrder}
	for _, c := range e.Classes {
		for _, o := range lb.WorstFirst() {
			if n := e.Shown(c, o); o.Hurtful() && n > 0 && may != nil && !slices.Contains(may, o) {
				f.Outcome, f.Says, f.Declared = o, fmt.Sprintf("%d of %s with %s", n, english.Count(c.Orders, "order"), c.Class), "at worst "+names(may)
				return f.shownBy(e, func(v rundir.ExploredOrder) bool { return v.Outcome == o && slices.Equal(v.Class, c.Class) })
			}
		}
	}
	if i := slices.IndexFunc(e.Violations, func(v rundir.ExploredOrder) bool { return v.Undeclared }); may == nil && i >= 0 {
		v := e.Violations[i]
		f.Outcome, f.Says = v.Outcome, fmt.Sprintf("%s, with %s", v.Reason, v.Class)
		return f.shownBy(e, func(w rundir.ExploredOrder) bool { return w.Dir == v.Dir })
	}
	if i := slices.IndexFunc(e.Classes, func(c *rundir.ExploredClass) bool { return c.Undeclared }); may == nil && i >= 0 {
		f.Outcome, f.Says = lb.Check, fmt.Sprintf("orders with %s: %s", e.Classes[i].Class, e.Classes[i].Declared)
		return f
	}
	f.Kind = Undecided
	switch {
	case slices.ContainsFunc(finds, func(o lb.Outcome) bool { return e.CameTo(o) > 0 }): // whatever else is open
		return nil
	case e.Proves() != "":
		f.Says = e.Proves()
		return f
	case len(finds) > 0:
		f.Kind, f.Says = Blind, "no order came to "+names(finds)
		return f
	}
	return nil
}

// shownBy names the order that shows it, if one is kept.
func (f *Finding) shownBy(e *rundir.Explored, shows func(rundir.ExploredOrder) bool) *Finding {
	if i := slices.IndexFunc(e.Violations, shows); i >= 0 {
		f.Again = e.Violations[i].Dir
		f.Says = cmp.Or(f.Says, e.Violations[i].Reason)
	}
	return f
}

func names(all []lb.Outcome) string {
	var list []string
	for _, o := range all {
		list = append(list, string(o))
	}
	return strings.Join(list, " or ")
}
