package reports

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/internal/cost"
)

// sidesView is several benchmarks side by side: the two figures that say most, and in what
// else they differ.
type sidesView struct {
	Differ []sideFacts
	Tables []benchTableView
	Plots  []plotView
}

type sideFacts struct{ Name, Facts string }

func newSides(list []namedBench) *sidesView {
	v := &sidesView{Differ: differences(list)}
	for _, t := range sidesTables(list) {
		v.Tables = append(v.Tables, t.view(locksOfAll(list), ""))
	}
	return v
}

// sidesTables have a column for each benchmark, with each of its kinds of servers.
func sidesTables(list []namedBench) []benchTable {
	one := func(title, doc string, key func(string, cost.Servers) cost.Key, m cost.Measure, show func(*cost.Figure) string) benchTable {
		t := benchTable{Title: title, Brief: true}
		for _, s := range columnsOfAll(list) {
			for _, b := range list {
				f := figureOf(func(lock string, s cost.Servers, m cost.Measure) *cost.Figure { return b.Figure(key(lock, s), m) })
				t.Columns = append(t.Columns,
					f.column(b.name+", "+string(s), doc+" in "+b.name, 1, s, m, show),
					f.column("±", "how far its interval reaches", 1, s, m, margin))
			}
		}
		return t
	}
	return []benchTable{
		one("Side by side: acquire and release, when nobody else wants it", "acquire and release", cost.Uncontended, cost.Cycle, duration),
		one("Side by side: hand-offs per second, when many want it", "hand-offs per second", cost.Contended, cost.HandOffs, number3),
	}
}

// columnsOfAll are those that any of them has.
func columnsOfAll(list []namedBench) (all []cost.Servers) {
	for _, b := range list {
		for _, s := range b.Columns() {
			if !slices.Contains(all, s) {
				all = append(all, s)
			}
		}
	}
	return all
}

// sidesFigures have a colour for each benchmark.
func sidesFigures(list []namedBench) (out []figure) {
	for _, s := range columnsOfAll(list) {
		var each []series
		for _, b := range list {
			each = append(each, series{b.name, b.Bench, s})
		}
		for _, f := range overview(locksOfAll(list), each, lockCycle, lockCrowd) {
			f.Title += ", side by side: " + string(s)
			f.File = "sides-" + string(s) + "-" + f.File
			out = append(out, f)
		}
	}
	return out
}

// locksOfAll are the locks of all benchmarks, group by group.
func locksOfAll(list []namedBench) []string {
	var locks set
	titles := map[string]string{}
	for _, b := range list {
		maps.Copy(titles, b.Plan.Groups)
		for _, lock := range b.Plan.Algorithms {
			locks.add(lock)
		}
	}
	return namesOf(byTitle(locks, titles))
}

// differences are of each benchmark the facts that not all have, or that none is known. Seeds are none: they
// differ always, and make no difference.
func differences(list []namedBench) (out []sideFacts) {
	all := make([][]string, len(list))
	for i, b := range list {
		for _, f := range benchFacts(b.Bench) {
			switch f.Name {
			case "Seed":
			case "Versions":
				all[i] = append(all[i], strings.Split(f.Value, ", ")...)
			default:
				all[i] = append(all[i], f.Name+": "+f.Value)
			}
		}
	}
	for i, facts := range all {
		own := slices.DeleteFunc(slices.Clone(facts), func(f string) bool {
			return !slices.ContainsFunc(all, func(other []string) bool { return !slices.Contains(other, f) })
		})
		out = append(out, sideFacts{list[i].name, cmp.Or(strings.Join(own, ", "), "nothing is known that the others have not")})
	}
	return out
}
