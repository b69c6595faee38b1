package cli

import (
	"path"
	"slices"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/internal/lab"
	"github.com/lockbench/lockbench/workloads"
)

func (p program) algorithmNames() (names []string) {
	for _, a := range p.impls {
		names = append(names, a.Info().Name)
	}
	return names
}

func faultNames() (names []string) {
	for _, f := range faults.All() {
		names = append(names, f.Name())
	}
	return names
}

func (p program) findAlgorithm(name string) (lb.Impl, error) {
	for _, a := range p.impls {
		if a.Info().Name == name {
			return a, nil
		}
	}
	return nil, usage("unknown algorithm %q%s", name, near(name, p.algorithmNames()))
}

func findFault(name string) (lb.Fault, error) {
	if f, ok := faults.Find(name); ok {
		return f, nil
	}
	return nil, usage("unknown fault %q%s", name, near(name, faultNames()))
}

func findWorkload(name string) (lb.Workload, error) {
	if w, ok := workloads.Find(name); ok {
		return w, nil
	}
	var names []string
	for _, w := range workloads.All() {
		names = append(names, w.Info().Name)
	}
	return nil, usage("unknown workload %q%s", name, near(name, names))
}

// checkTopology accepts "" for the algorithm's own first choice.
func checkTopology(name string, info lb.Info) error {
	if name == "" || slices.Contains(info.Topologies, name) {
		return nil
	}
	if _, ok := lab.FindTopology(name); !ok {
		var names []string
		for _, t := range lab.Topologies() {
			names = append(names, t.Name)
		}
		return usage("unknown topology %q%s", name, near(name, names))
	}
	return usage("%s does not run on topology %s; it runs on %s", info.Name, name, strings.Join(info.Topologies, ", "))
}

// pick returns the items whose names match one of the comma-separated globs, in
// the order of all. extra makes an item of a name that is not in all.
func pick[T any](globs string, all []T, name func(T) string, extra func(string) (T, error)) ([]T, error) {
	var picked []T
	taken := map[string]bool{}
	take := func(x T) {
		if !taken[name(x)] {
			taken[name(x)] = true
			picked = append(picked, x)
		}
	}
	for _, glob := range strings.Split(globs, ",") {
		found := false
		for _, x := range all {
			if ok, err := path.Match(glob, name(x)); err != nil {
				return nil, usage("bad pattern %q: %w", glob, err)
			} else if ok {
				found = true
				take(x)
			}
		}
		if !found {
			x, err := extra(glob)
			if err != nil {
				return nil, err
			}
			take(x)
		}
	}
	return picked, nil
}

// near ends an error about an unknown name with those that were perhaps meant.
func near(name string, all []string) string {
	var close []string
	for _, n := range all {
		if distance(name, n) <= 1+len(name)/3 || name != "" && strings.Contains(n, name) {
			close = append(close, n)
		}
	}
	if len(close) == 0 {
		close = all
	} else {
		slices.SortStableFunc(close, func(a, b string) int { return distance(name, a) - distance(name, b) })
		return "; did you mean " + strings.Join(close, ", ") + "?"
	}
	return "; there are " + strings.Join(close, ", ")
}

// distance is the number of letters to insert, delete or replace (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal, row[j+1] = row[j+1], min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
