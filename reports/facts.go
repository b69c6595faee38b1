package reports

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/english"
)

type fact struct {
	Name, Value string
	Wide        bool // needs a line of its own
}

// planFacts gathers where the cells were run, for the page's head.
type planFacts struct {
	days, labs, topologies, options, binaries, images, workloads, clients, atOnce, clocks, ttls, durations, runs, jobs, seeds, machines, kernels, versions set
	// load is the least and the greatest of the runs.
	load []float64
	// late cells had a process stand still for a quarter of a lease or more, the longest
	// so many ms.
	cells, late int
	longest     float64
	ttl         time.Duration
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

func (f *planFacts) add(p history.Plan, c *checker.Cell) {
	f.stalled(p, c)
	if !p.Made.IsZero() {
		f.days.add(p.Made.Format("2 January 2006"))
	}
	f.labs.add(labOf(p.Lab, p.Addrs))
	f.topologies.add(p.Topology)
	for _, option := range p.ServerOptions {
		f.options.add(option)
	}
	f.binaries.add(p.ServerBinary)
	f.images.add(p.ServerImage)
	f.workloads.add(p.Workload)
	if p.Clients > 0 {
		f.clients.add(fmt.Sprintf("%d in %s", p.Clients, english.Count(p.Processes, "process")))
	}
	if p.FaultsAtOnce > 1 {
		f.atOnce.add(fmt.Sprint(p.FaultsAtOnce))
	}
	if p.Clocks == history.Apart {
		f.clocks.add("one on each worker’s host")
	}
	f.ttls.add(length(p.TTL))
	f.durations.add(length(p.Duration))
	if c.Runs > 0 {
		f.runs.add(fmt.Sprint(c.Runs))
	}
	f.seeds.add(fmt.Sprint(p.Seed))
	if p.Jobs > 0 {
		f.jobs.add(fmt.Sprint(p.Jobs))
	}
	f.machine(p.Machine)
	f.versioned(p.Versions)
}

// labOf is a lab with the servers that it borrowed.
func labOf(lab, addrs string) string { return strings.TrimSuffix(lab+" ("+addrs+")", " ()") }

func (f *planFacts) machine(m *history.Machine) {
	if m != nil {
		f.machines.add(strings.TrimPrefix(m.System+", "+english.Count(m.Cores, "core"), ", "))
		f.kernels.add(m.Kernel)
		if m.Load > 0 || m.Kernel != "" { // both are read of /proc: without the one, the other's 0 is no load
			f.load = append(f.load, m.Load)
		}
	}
}

// stalled counts what the machine itself did to the cell's runs.
func (f *planFacts) stalled(p history.Plan, c *checker.Cell) {
	f.cells++
	if late := time.Duration(c.StalledMS * 1e6); p.TTL > 0 && late >= p.TTL/4 {
		f.late++
		if c.StalledMS > f.longest {
			f.longest, f.ttl = c.StalledMS, p.TTL
		}
	}
}

// warning says that the machine was too busy for its leases, "" if it was not.
func (f *planFacts) warning() string {
	if f.late == 0 {
		return ""
	}
	return fmt.Sprintf("The machine was busy: in %d of %s it let a process of the bench stand still for a quarter of a lease or more, and no fault did; the longest was %s of a lease of %s. "+
		"Outages and times of such runs are the machine’s, too. Fewer runs at a time (--jobs), or longer leases (--ttl), make it quiet.",
		f.late, english.Count(f.cells, "cell"), span(f.longest), length(f.ttl))
}

func (f *planFacts) versioned(versions map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(versions)) {
		f.versions.add(shortModule(name) + " " + history.ShortVersion(versions[name]))
	}
}

// shortModule leaves of the path of a Go module what tells it from others.
func shortModule(path string) string {
	parts := strings.Split(majorVersion.ReplaceAllString(path, ""), "/")
	return strings.Join(parts[max(0, len(parts)-2):], "/")
}

var majorVersion = regexp.MustCompile(`/v[0-9]+$`)

func length(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return span(float64(d) / 1e6)
}

// between is a range of numbers, or the one that there is.
func between(low, high float64) string {
	if a, b := fmt.Sprintf("%.1f", low), fmt.Sprintf("%.1f", high); a != b {
		return a + " to " + b
	}
	return fmt.Sprintf("%.1f", low)
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
	add("Server options", f.options)
	add("Server binary", f.binaries)
	add("Image", f.images)
	add("Workload", f.workloads)
	add("Clients", f.clients)
	add("Faults at once", f.atOnce)
	add("Clocks", f.clocks)
	add("Lease time (TTL)", f.ttls)
	add("Length of a run", f.durations)
	add("Runs a cell", f.runs)
	add("Runs at a time", f.jobs)
	add("Seed", f.seeds)
	add("Machine", f.machines)
	add("Kernel", f.kernels)
	if len(f.load) > 0 {
		add("Load before a run", set{between(slices.Min(f.load), slices.Max(f.load))})
	}
	if len(f.versions) > 0 {
		out = append(out, fact{"Versions", strings.Join(f.versions, ", "), true})
	}
	return out
}
