package reports

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/history"
)

type fact struct {
	Name, Value string
	Wide        bool // needs a line of its own
}

// planFacts gathers where the cells were run, for the page's head.
type planFacts struct {
	days, labs, topologies, workloads, clients, ttls, durations, runs, jobs, seeds, machines, versions set
}

// set keeps the distinct values in the order of first appearance.
type set []string

func (s *set) add(v string) {
	for _, x := range *s {
		if x == v {
			return
		}
	}
	if v != "" {
		*s = append(*s, v)
	}
}

func (f *planFacts) add(p history.Plan, runs int) {
	if !p.Made.IsZero() {
		f.days.add(p.Made.Format("2 January 2006"))
	}
	f.labs.add(p.Lab)
	f.topologies.add(p.Topology)
	f.workloads.add(p.Workload)
	if p.Clients > 0 {
		f.clients.add(fmt.Sprintf("%d in %s", p.Clients, plural(p.Processes, "process", "processes")))
	}
	f.ttls.add(length(p.TTL))
	f.durations.add(length(p.Duration))
	if runs > 0 {
		f.runs.add(fmt.Sprint(runs))
	}
	f.seeds.add(fmt.Sprint(p.Seed))
	if p.Jobs > 0 {
		f.jobs.add(fmt.Sprint(p.Jobs))
	}
	f.machine(p.Machine)
	f.versioned(p.Versions)
}

func (f *planFacts) machine(m *history.Machine) {
	if m != nil {
		f.machines.add(strings.TrimPrefix(m.System+", "+plural(m.Cores, "core", "cores"), ", "))
	}
}

func (f *planFacts) versioned(versions map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(versions)) {
		f.versions.add(shortModule(name) + " " + shortVersion(versions[name]))
	}
}

// shortModule leaves of the path of a Go module what tells it from others.
func shortModule(path string) string {
	parts := strings.Split(majorVersion.ReplaceAllString(path, ""), "/")
	return strings.Join(parts[max(0, len(parts)-2):], "/")
}

// shortVersion is the number in what a program says of its version, or all of it.
func shortVersion(said string) string { return cmp.Or(number.FindString(said), said) }

var (
	majorVersion = regexp.MustCompile(`/v[0-9]+$`)
	number       = regexp.MustCompile(`[0-9]+(\.[0-9]+)+[-+.0-9A-Za-z]*`)
)

func length(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return span(float64(d) / 1e6)
}

func (f *planFacts) facts() []fact {
	var out []fact
	add := func(name string, s set) {
		switch {
		case len(s) > 6:
			out = append(out, fact{Name: name, Value: fmt.Sprintf("%d different, see each cell", len(s))})
		case len(s) > 0:
			out = append(out, fact{Name: name, Value: strings.Join(s, ", ")})
		}
	}
	add("Run on", f.days)
	add("Lab", f.labs)
	add("Topologies", f.topologies)
	add("Workload", f.workloads)
	add("Clients", f.clients)
	add("Lease time (TTL)", f.ttls)
	add("Length of a run", f.durations)
	add("Runs a cell", f.runs)
	add("Runs at a time", f.jobs)
	add("Seed", f.seeds)
	add("Machine", f.machines)
	if len(f.versions) > 0 {
		out = append(out, fact{"Versions", strings.Join(f.versions, ", "), true})
	}
	return out
}
