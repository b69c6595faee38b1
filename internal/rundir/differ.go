package rundir

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/english"
)

// differences are in what directories differ that are read as one: by what it is, each
// value with the directories that have it, in their order.
type differences struct {
	dirs   []string
	values map[string]map[string][]string
	// lengths are those of a cell's runs, by directory: they go with its lease, and differ from cell to cell of one matrix.
	lengths map[place]map[string]time.Duration
}

// add notes a run of a cell.
func (d *differences) add(dir string, at place, p history.Plan) {
	if d.values == nil {
		d.values, d.lengths = map[string]map[string][]string{}, map[place]map[string]time.Duration{}
	}
	if !slices.Contains(d.dirs, dir) {
		d.dirs = append(d.dirs, dir)
	}
	set := func(what, value string) { d.set(dir, what, value) }
	set("lab", p.Lab)
	if p.Addrs != "" {
		set("addresses of the servers", p.Addrs)
	}
	if p.Duration > 0 {
		if d.lengths[at] == nil {
			d.lengths[at] = map[string]time.Duration{}
		}
		d.lengths[at][dir] = p.Duration
	}
	if m := p.Machine; m != nil {
		set("machine", strings.TrimSuffix(fmt.Sprintf("%s, %s, %s", m.System, english.Count(m.Cores, "core"), m.Kernel), ", "))
	}
	if p.Jobs > 0 {
		set("number of runs at a time", fmt.Sprint(p.Jobs))
	}
	for name, version := range p.Versions {
		if name == "revision" { // of the sources
			name = "lockbench's " + name
		}
		set("version of "+name, history.ShortVersion(version))
	}
}

func (d *differences) set(dir, what, value string) {
	if d.values[what] == nil {
		d.values[what] = map[string][]string{}
	}
	if had := d.values[what][value]; !slices.Contains(had, dir) {
		d.values[what][value] = append(had, dir)
	}
}

// notes says each difference in a sentence.
func (d *differences) notes() (notes []string) {
	for _, by := range d.lengths {
		for dir, length := range by {
			if slices.ContainsFunc(slices.Collect(maps.Values(by)), func(other time.Duration) bool { return other != length }) {
				d.set(dir, "length of a run", length.String())
			}
		}
	}
	for _, what := range slices.Sorted(maps.Keys(d.values)) {
		// What differs within one directory, as the server from lock to lock, is no
		// difference between them.
		byDir := map[string][]string{}
		for _, value := range slices.Sorted(maps.Keys(d.values[what])) {
			for _, dir := range d.values[what][value] {
				byDir[dir] = append(byDir[dir], value)
			}
		}
		var order []string
		have := map[string][]string{}
		for _, dir := range d.dirs {
			if len(byDir[dir]) == 0 {
				continue
			}
			text := strings.Join(byDir[dir], " and ")
			if !slices.Contains(order, text) {
				order = append(order, text)
			}
			have[text] = append(have[text], dir)
		}
		if len(order) < 2 {
			continue
		}
		for i, text := range order {
			order[i] = text + " in " + some(have[text])
		}
		notes = append(notes, fmt.Sprintf("The %s is not the same everywhere: %s.", what, strings.Join(order, "; ")))
	}
	return notes
}

// some are the first of many.
func some(dirs []string) string {
	const few = 3
	if len(dirs) > few {
		return fmt.Sprintf("%s and %d more", strings.Join(dirs[:few], ", "), len(dirs)-few)
	}
	return strings.Join(dirs, ", ")
}
