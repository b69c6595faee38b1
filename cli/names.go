package cli

import (
	"errors"
	"path"
	"slices"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/catalog"
)

// named makes the error about a name that is in no list one of usage, with the names
// that were perhaps meant.
func named[T any](found T, err error) (T, error) {
	var unknown *catalog.UnknownError
	switch {
	case errors.As(err, &unknown):
		err = usage("unknown %s %q%s", unknown.What, unknown.Name, near(unknown.Name, unknown.Known))
	case err != nil:
		err = usage("%w", err)
	}
	return found, err
}

// runsOn accepts "" for the algorithm's own first choice.
func (p program) runsOn(topology string, info lb.Info) error {
	if topology == "" || slices.Contains(info.Topologies, topology) {
		return nil
	}
	if _, err := named(p.Topology(topology)); err != nil {
		return err
	}
	return usage("%s does not run on topology %s; it runs on %s", info.Name, topology, strings.Join(info.Topologies, ", "))
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
			x, err := named(extra(glob))
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
