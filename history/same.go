package history

import (
	"cmp"
	"fmt"
	"strings"
)

// Difference is a field that two plans have not in common, and its values.
type Difference struct{ What, A, B string }

// Same says in what two plans differ that may be of one cell, or nil: runs of both are then
// samples of the same thing. The seed, the lab, the length and the machine may differ.
func (p Plan) Same(o Plan) error {
	return first(append(differences([]setting{{"algorithm", p.Algorithm, o.Algorithm}, {"fault", p.Fault, o.Fault}}), p.Settings(o)...))
}

// Settings are all in what two plans of an algorithm under a fault differ, so that their
// runs are no samples of the same thing.
func (p Plan) Settings(o Plan) []Difference {
	return differences([]setting{
		{"workload", p.Workload, o.Workload}, {"topology", p.Topology, o.Topology},
		{"number of clients", p.Clients, o.Clients}, {"number of processes", p.Processes, o.Processes},
		{"number of faults at once", max(1, p.FaultsAtOnce), max(1, o.FaultsAtOnce)},
		{"TTL", p.TTL, o.TTL}, {"long work", cmp.Or(p.Work, NoWork), cmp.Or(o.Work, NoWork)}, {"store", storeName(p), storeName(o)},
		{"clocks", cmp.Or(p.Clocks, OneClock), cmp.Or(o.Clocks, OneClock)},
		{"servers' options", strings.Join(p.ServerOptions, " "), strings.Join(o.ServerOptions, " ")},
		{"program", p.Exec.String(), o.Exec.String()},
		{"server binary", p.ServerBinary, o.ServerBinary}, {"image", p.ServerImage, o.ServerImage},
	})
}

// SameRun says in what two plans of one cell differ that may be of the same run, or nil.
func (p Plan) SameRun(o Plan) error {
	return first(differences([]setting{{"seed", p.Seed, o.Seed}, {"lab", p.Lab, o.Lab}, {"address of the servers", p.Addrs, o.Addrs}, {"length", p.Duration, o.Duration}}))
}

func storeName(p Plan) string { return cmp.Or(p.Store, "memory") }

type setting struct {
	what string
	a, b any
}

func differences(settings []setting) (all []Difference) {
	for _, f := range settings {
		if f.a != f.b {
			all = append(all, Difference{f.what, cmp.Or(fmt.Sprint(f.a), "none"), cmp.Or(fmt.Sprint(f.b), "none")})
		}
	}
	return all
}

func first(all []Difference) error {
	if len(all) == 0 {
		return nil
	}
	return fmt.Errorf("the %s is %s and %s", all[0].What, all[0].A, all[0].B)
}
