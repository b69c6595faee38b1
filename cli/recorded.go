package cli

import (
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/lockbench/lockbench/internal/gate"
	"github.com/lockbench/lockbench/internal/run"
	"github.com/lockbench/lockbench/internal/rundir"
)

// apart are the directories, and what was saved in files by --json.
func apart(names []string) (dirs []string, saved []rundir.Saved, err error) {
	for _, name := range names {
		if info, err := os.Stat(name); err != nil || info.IsDir() {
			dirs = append(dirs, name)
			continue
		}
		s, err := rundir.OpenSaved(name)
		if err != nil {
			return nil, nil, usage("%w", err)
		}
		saved = append(saved, s)
	}
	return dirs, saved, nil
}

// sorted are the directories with runs, and the benchmarks in all, and those that were saved. No lock is measured in
// two: which of them is to be held to a limit nobody could say.
func sorted(dirs []string, saved []rundir.Saved) (runs []string, measured gate.Benches, err error) {
	for _, s := range saved {
		if s.Bench != nil {
			measured.Now = append(measured.Now, s.Bench)
		}
	}
	by := map[string]string{} // the directory in which a lock is measured
	for _, b := range measured.Now {
		for _, a := range b.Plan.Algorithms {
			if by[a] != "" {
				return nil, measured, usage("two files hold a benchmark of %s each: name one of them", a)
			}
			by[a] = "a file"
		}
	}
	for _, dir := range dirs {
		what, err := rundir.Kind(dir)
		switch {
		case err != nil:
			return nil, measured, usage("%w", err)
		case what == rundir.IsQuorum:
			return nil, measured, usage("%s is %s: it holds neither runs, nor an exploration, nor a benchmark%s", dir, what.One(), rundir.OtherLatest(dir, rundir.IsMatrix, rundir.IsRun, rundir.IsExplored, rundir.IsBench))
		case what == rundir.IsExplored: // which was read
			continue
		case what != rundir.IsBench:
			runs = append(runs, dir)
		}
		b, err := rundir.OpenBench(dir)
		if err == nil {
			for _, a := range b.Bench.Plan.Algorithms {
				if other := by[a]; other != "" {
					return nil, measured, usage("%s and %s hold a benchmark of %s each: name one of them", other, dir, a)
				}
				by[a] = dir
			}
			measured.Now = append(measured.Now, b.Bench)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, measured, err
		}
	}
	return runs, measured, nil
}

// lacking adds the places of the matrix that are not there.
func lacking(places []*gate.Place, m *run.Matrix) []*gate.Place {
	for _, a := range m.Algorithms {
		for _, f := range m.Faults {
			name := a.Info().Name
			there := slices.ContainsFunc(places, func(p *gate.Place) bool { return p.Algorithm == name && p.Fault == f.Name })
			if !there && m.Available(m.For(a, f, 0), f) == nil {
				places = append(places, &gate.Place{Algorithm: name, Fault: f.Name, Planned: m.Runs})
			}
		}
	}
	return places
}
