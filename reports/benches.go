package reports

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/lockbench/lockbench/internal/cost"
	"github.com/lockbench/lockbench/internal/rundir"
)

// namedBench is one of the benchmarks that a page is of.
type namedBench struct {
	*cost.Bench
	dir, name string // one alone has no name
}

// benchesIn are the benchmarks in the directories, and those directories that have more than
// a benchmark. The error is that of the first one that can't be read, or matches
// [fs.ErrNotExist] where there is none.
func benchesIn(dirs []string) (list []namedBench, rest []string, err error) {
	for _, dir := range dirs {
		d, e := rundir.OpenBench(dir)
		if e == nil {
			list = append(list, namedBench{Bench: d.Bench, dir: dir})
		} else if err == nil && !errors.Is(e, fs.ErrNotExist) {
			err = e
		}
		if kind, _ := rundir.Kind(dir); e != nil || kind != rundir.IsBench {
			rest = append(rest, dir)
		}
	}
	if len(list) == 0 && err == nil {
		err = fs.ErrNotExist
	}
	if len(list) > 1 {
		name(list)
	}
	return list, rest, err
}

// name calls each benchmark by its directory, and by its whole path where that is not enough.
func name(list []namedBench) {
	var names set
	for i, b := range list {
		if abs, err := filepath.Abs(b.dir); err == nil {
			b.dir = abs
		}
		list[i].name = filepath.Base(b.dir)
		names.add(list[i].name)
	}
	if len(names) < len(list) {
		for i, b := range list {
			list[i].name = b.dir
		}
	}
}

// lies reports whether one of the benchmarks is in the directory.
func lies(list []namedBench, dir string) bool {
	return slices.ContainsFunc(list, func(b namedBench) bool { return b.dir == dir })
}

// firstOf is the one that prices are taken from, nil where there is none.
func firstOf(list []namedBench) *cost.Bench {
	if len(list) == 0 {
		return nil
	}
	return list[0].Bench
}
