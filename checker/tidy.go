package checker

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/english"
)

// Of each thing that is counted a lock may keep so much for each client, as a connection or a
// queue of its own: once, however often it is taken. What grows is more than that, and so much
// for each acquisition.
const (
	mayKeep  = 4
	mustGrow = 0.1
)

// MayKeep is how much more of a thing so many clients may leave, however often they take a lock.
func MayKeep(clients int) int { return mayKeep * clients }

// growth is how much more there was of something at one place, from its first count to its last.
type growth struct {
	first, last history.Count
	asked       int // acquisitions meanwhile
}

func (g growth) more() int { return g.last.N - g.first.N }

// judgeTidy asks whether a lock leaves something behind with each acquisition: a key, a session, a
// connection. That hurts nobody in a run as short as this one, and no other layer tells.
func judgeTidy(r *run) Layer {
	all := r.growths()
	switch {
	case len(all) == 0:
		return Layer{Verdict: Vacuous, Summary: "nothing was counted twice"}
	case slices.ContainsFunc(r.Faults, func(f history.Fault) bool { return f.Struck }):
		return Layer{Verdict: Vacuous, Summary: "not judged where something went wrong"}
	case all[0].asked <= MayKeep(len(r.Clients)):
		return Layer{Verdict: Vacuous, Summary: english.Count(all[0].asked, "acquisition") + ": too few to tell what grows"}
	}
	most := map[string]int{} // of all places
	var grew []string
	for _, g := range all {
		if _, told := most[g.first.Name]; !told { // what grew most comes first
			most[g.first.Name] = g.more()
		}
		declared := slices.Contains(strings.Split(r.plan.Traits.Leaves, ","), g.first.Name)
		if !declared && g.more() > MayKeep(len(r.Clients)) && float64(g.more()) > mustGrow*float64(g.asked) {
			grew = append(grew, fmt.Sprintf("%s at %s grew from %d to %d in %s, and were still there %s after the work had ended",
				g.first.Name, g.first.Target, g.first.N, g.last.N, english.Count(g.asked, "acquisition"), seconds(g.last.At.Sub(r.End))))
		}
	}
	if len(grew) > 0 {
		return Layer{Verdict: Invalid, Count: len(grew), Summary: strings.Join(grew, "; ")}
	}
	var told []string
	for _, name := range slices.Sorted(maps.Keys(most)) {
		told = append(told, fmt.Sprintf("%s %+d", name, most[name]))
	}
	return Layer{Verdict: Valid, Summary: fmt.Sprintf("in %s, by when all was given back: %s", english.Count(all[0].asked, "acquisition"), strings.Join(told, ", "))}
}

// growths are those of all that was counted more than once, what grew most first.
func (r *run) growths() (all []growth) {
	at := map[[2]string]int{}
	for _, c := range r.Counts {
		key := [2]string{c.Name, c.Target}
		if i, ok := at[key]; ok {
			all[i].last = c
			continue
		}
		at[key] = len(all)
		all = append(all, growth{first: c, last: c})
	}
	all = slices.DeleteFunc(all, func(g growth) bool { return g.first == g.last })
	for i := range all {
		for k := range r.Acqs {
			if a := &r.Acqs[k]; a.Asked && a.Call >= all[i].first.At && a.Call <= all[i].last.At {
				all[i].asked++
			}
		}
	}
	slices.SortStableFunc(all, func(a, b growth) int { return cmp.Compare(b.more(), a.more()) })
	return all
}
