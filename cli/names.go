package cli

import (
	"errors"
	"path"
	"slices"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/catalog"
	"github.com/lockbench/lockbench/internal/english"
)

// named makes the error about a name that is in no list one of usage, with the names
// that were perhaps meant.
func named[T any](found T, err error) (T, error) {
	var unknown *catalog.UnknownError
	switch {
	case errors.As(err, &unknown):
		err = usage("unknown %s %q%s", unknown.What, unknown.Name, english.Near(unknown.Name, unknown.Known))
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
