package history

import "fmt"

// Same says in what two plans differ that may be of one cell, or nil: runs of both are then
// samples of the same thing. The seed, the lab, the length and the machine may differ.
func (p Plan) Same(o Plan) error {
	for _, f := range []struct {
		what string
		a, b any
	}{
		{"algorithm", p.Algorithm, o.Algorithm}, {"fault", p.Fault, o.Fault}, {"workload", p.Workload, o.Workload},
		{"topology", p.Topology, o.Topology}, {"number of clients", p.Clients, o.Clients},
		{"number of processes", p.Processes, o.Processes}, {"TTL", p.TTL, o.TTL},
		{"store", p.Store, o.Store},
	} {
		if f.a != f.b {
			return fmt.Errorf("the %s is %v and %v", f.what, f.a, f.b)
		}
	}
	return nil
}

// SameRun says in what two plans of one cell differ that may be of the same run, or nil.
func (p Plan) SameRun(o Plan) error {
	for _, f := range []struct {
		what string
		a, b any
	}{{"seed", p.Seed, o.Seed}, {"lab", p.Lab, o.Lab}, {"length", p.Duration, o.Duration}} {
		if f.a != f.b {
			return fmt.Errorf("the %s is %v and %v", f.what, f.a, f.b)
		}
	}
	return nil
}
