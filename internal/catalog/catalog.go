// Package catalog is what there is to run: locks, faults, workloads, topologies and
// labs. Nobody else has a list of them, so that a team's own program can bring its own.
package catalog

import (
	"fmt"
	"slices"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/foreign"
	"github.com/lockbench/lockbench/lab"
	"github.com/lockbench/lockbench/workloads"
	"github.com/lockbench/lockbench/workloads/guard"
)

// Catalog is all there is. The order is that of lists and of the matrix; names are
// unique in each list. The first workload and the first lab are the defaults.
type Catalog struct {
	Locks      []lb.Impl
	Groups     map[string]string // the titles above the rows of locks, by name; without one a lock is among the others
	Faults     []faults.Fault    // the columns of the matrix
	More       []faults.Fault    // faults that are none
	Workloads  []workloads.Workload
	Topologies []lab.Topology
	Labs       []lab.Driver
	Stores     []guard.Database // what can keep the protected store's fenced copy, beside memory
	// Templates are what locks in other languages begin with.
	Templates []foreign.Template
}

// With is the catalogue with a lock more, which is a program of the user's; nil for none.
func (c Catalog) With(e *history.Exec) (Catalog, error) {
	if e == nil {
		return c, nil
	}
	if old, err := c.Lock(e.Name); err == nil {
		if !old.Info().Program {
			return c, fmt.Errorf("%s calls itself %s, as a lock of the list does: it needs a name of its own", e.Command, e.Name)
		}
		// Its own adapter, perhaps changed, or it was added before.
		c.Locks = slices.DeleteFunc(slices.Clone(c.Locks), func(l lb.Impl) bool { return l.Info().Name == e.Name })
	}
	d, err := foreign.Parse(e.Described)
	if err != nil {
		return c, fmt.Errorf("what %s has said of itself: %w", e.Command, err)
	}
	c.Locks = append(slices.Clip(c.Locks), foreign.New(foreign.Command{Line: e.Command, Dir: e.Dir}, d))
	return c, nil
}

// UnknownError is a name that is in no list.
type UnknownError struct {
	What, Name string
	Known      []string
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("unknown %s %q; there are %s", e.What, e.Name, strings.Join(e.Known, ", "))
}

// Lock of that name.
func (c Catalog) Lock(name string) (lb.Impl, error) {
	return find("algorithm", c.Locks, lockName, name)
}

// Fault that the name describes, see [faults.Find].
func (c Catalog) Fault(name string) (faults.Fault, error) {
	f, err := faults.Find(append(slices.Clip(c.Faults), c.More...), name)
	if unknown, ok := err.(*faults.UnknownError); ok {
		return f, &UnknownError{"fault", unknown.Name, names(append(slices.Clip(c.Faults), c.More...), faultName)}
	}
	return f, err
}

// Workload of that name.
func (c Catalog) Workload(name string) (workloads.Workload, error) {
	return find("workload", c.Workloads, workloadName, name)
}

// Topology of that name.
func (c Catalog) Topology(name string) (lab.Topology, error) {
	return find("topology", c.Topologies, topologyName, name)
}

// Store of that name.
func (c Catalog) Store(name string) (guard.Database, error) {
	return find("store", c.Stores, storeName, name)
}

// Lab of that name, with the servers at the addresses, "" for its own.
func (c Catalog) Lab(name, addrs string) (lab.Driver, error) {
	d, err := find("lab", c.Labs, labName, name)
	switch {
	case err != nil || addrs == "":
		return d, err
	case d.At == nil:
		return d, fmt.Errorf("the %s lab brings its own servers: leave out --addrs, or leave out --lab", name)
	}
	return d.At(addrs)
}

// Setting is where a fault would strike in a run of the plan.
func (c Catalog) Setting(plan history.Plan) (s faults.Setting, err error) {
	impl, err := c.Lock(plan.Algorithm)
	if err != nil {
		return s, err
	}
	work, err := c.Workload(plan.Workload)
	if err != nil {
		return s, err
	}
	s.Algorithm, s.Workload = impl.Info(), work.Info()
	if s.Lab, err = c.Lab(plan.Lab, plan.Addrs); err != nil {
		return s, err
	}
	if s.Topology, err = c.Servers(plan); err != nil {
		return s, err
	}
	if s.Lab.Borrowed != nil {
		s.Topology = s.Lab.Borrowed.Like(s.Topology)
	}
	return s, nil
}

// Ready says why the setting's lock can't be run, or nil: one that is a program needs a lab
// that shares this machine's files, and its language, another its library, and some servers are an install of their own.
func (c Catalog) Ready(s faults.Setting) error {
	if err := s.Lab.Absent(s.Topology.Kind); err != nil {
		return err
	}
	if s.Algorithm.Program {
		if err := s.Lab.Can(lab.Programs); err != nil {
			return err
		}
	}
	impl, err := c.Lock(s.Algorithm.Name)
	if err != nil {
		return err
	}
	return Ready(impl)
}

// Demanding is a lock that not every machine can run, such as one in another language, or not every lockbench.
type Demanding interface {
	// Ready says what is missing and how to get it, or nil.
	Ready() error
}

// Elsewhere is the catalogue of a machine that plans what others run: what a lock needs need not
// be here, nor servers that are an install of their own.
func (c Catalog) Elsewhere() Catalog {
	locks := make([]lb.Impl, len(c.Locks))
	for i, l := range c.Locks {
		locks[i] = elsewhere{l}
	}
	c.Locks, c.Topologies = locks, slices.Clone(c.Topologies)
	for i := range c.Topologies {
		c.Topologies[i].Kind.Make = ""
	}
	return c
}

// elsewhere is a lock that is not [Demanding].
type elsewhere struct{ lb.Impl }

// Versioned is a lock that knows the versions of the libraries that it is made of, by their names.
type Versioned interface{ Versions() map[string]string }

// Ready says why this machine can't run the lock, or nil.
func Ready(l lb.Impl) error {
	if d, ok := l.(Demanding); ok {
		return d.Ready()
	}
	return nil
}

// Servers are those of the plan.
func (c Catalog) Servers(plan history.Plan) (lab.Topology, error) {
	t, err := c.Topology(plan.Topology)
	if err != nil {
		return t, err
	}
	own := Own(plan)
	if err := own.Check(c.Topologies); err != nil {
		return t, err
	}
	return t.With(own)
}

// Own is how a plan wants the servers to be.
func Own(plan history.Plan) lab.Own {
	return lab.Own{Options: plan.ServerOptions, Binary: plan.ServerBinary, Image: plan.ServerImage}
}

func lockName(l lb.Impl) string                { return l.Info().Name }
func faultName(f faults.Fault) string          { return f.Name }
func workloadName(w workloads.Workload) string { return w.Info().Name }
func topologyName(t lab.Topology) string       { return t.Name }
func labName(d lab.Driver) string              { return d.Name }
func storeName(k guard.Database) string        { return k.Name }

func names[T any](all []T, name func(T) string) (list []string) {
	for _, x := range all {
		list = append(list, name(x))
	}
	return list
}

func find[T any](what string, all []T, nameOf func(T) string, name string) (T, error) {
	i := slices.IndexFunc(all, func(x T) bool { return nameOf(x) == name })
	if i < 0 {
		var none T
		return none, &UnknownError{what, name, names(all, nameOf)}
	}
	return all[i], nil
}

// Check says what is wrong with the lists themselves: a name that is there twice, or
// none, or a list without anything where one is needed.
func (c Catalog) Check() error {
	for what, list := range map[string][]string{
		"algorithm": names(c.Locks, lockName), "fault": names(append(slices.Clip(c.Faults), c.More...), faultName),
		"workload": names(c.Workloads, workloadName), "topology": names(c.Topologies, topologyName), "lab": names(c.Labs, labName),
		"store": names(c.Stores, storeName),
	} {
		if len(list) == 0 && what != "store" { // there is always memory
			return fmt.Errorf("the catalogue has no %s", what)
		}
		slices.Sort(list)
		for i, name := range list {
			if name == "" || i > 0 && name == list[i-1] {
				return fmt.Errorf("the catalogue has two of the %s %q, or one without a name", what, name)
			}
		}
	}
	return nil
}
