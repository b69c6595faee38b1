package reports

import (
	"fmt"
	"strings"
	"time"

	"github.com/lockbench/lockbench"
)

type fact struct{ Name, Value string }

// planFacts gathers where the cells were run, for the page's head.
type planFacts struct {
	days, labs, topologies, workloads, clients, ttls, durations, runs, seeds set
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

func (f *planFacts) add(p lockbench.Plan, runs int) {
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
}

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
			out = append(out, fact{name, fmt.Sprintf("%d different, see each cell", len(s))})
		case len(s) > 0:
			out = append(out, fact{name, strings.Join(s, ", ")})
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
	add("Seed", f.seeds)
	return out
}
