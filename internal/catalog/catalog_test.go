package catalog

import (
	"errors"
	"slices"
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/lab"
	"github.com/lockbench/lockbench/workloads"
	"github.com/lockbench/lockbench/workloads/guard"
)

type lock struct {
	lb.Impl
	name string
}

func (l lock) Info() lb.Info { return lb.Info{Name: l.name} }

func some() Catalog {
	return Catalog{
		Locks:      []lb.Impl{lock{name: "one"}, lock{name: "two"}},
		Faults:     []faults.Fault{{Name: "none"}, {Name: "pause", At: "work"}},
		More:       []faults.Fault{{Name: "rare"}},
		Workloads:  []workloads.Workload{workloads.Counter{}},
		Topologies: []lab.Topology{{Name: "redis"}, {Name: "etcd"}},
		Labs:       []lab.Driver{{Name: "local"}, {Name: "docker"}},
	}
}

// TestFind: the one of that very name, of those that are no columns, too, and a fault
// at a step of its own.
func TestFind(t *testing.T) {
	c := some()
	if l, err := c.Lock("two"); err != nil || l.Info().Name != "two" {
		t.Errorf("lock: %v, %v", l, err)
	}
	if w, err := c.Workload("counter"); err != nil || w.Info().Name != "counter" {
		t.Errorf("workload: %v, %v", w, err)
	}
	if top, err := c.Topology("etcd"); err != nil || top.Name != "etcd" {
		t.Errorf("topology: %v, %v", top, err)
	}
	if d, err := c.Lab("docker", ""); err != nil || d.Name != "docker" {
		t.Errorf("lab: %v, %v", d, err)
	}
	for name, at := range map[string]string{"none": "", "rare": "", "pause@before-set/2ttl": "before-set"} {
		if f, err := c.Fault(name); err != nil || f.Name != name || f.At != at {
			t.Errorf("fault %s: %q at %q, %v", name, f.Name, f.At, err)
		}
	}
}

// TestUnknown names what it is, what was asked for and all there is.
func TestUnknown(t *testing.T) {
	c := some()
	for what, find := range map[string]struct {
		get   func(string) error
		known []string
	}{
		"algorithm": {func(n string) error { _, err := c.Lock(n); return err }, []string{"one", "two"}},
		"fault":     {func(n string) error { _, err := c.Fault(n); return err }, []string{"none", "pause", "rare"}},
		"workload":  {func(n string) error { _, err := c.Workload(n); return err }, []string{"counter"}},
		"topology":  {func(n string) error { _, err := c.Topology(n); return err }, []string{"redis", "etcd"}},
		"lab":       {func(n string) error { _, err := c.Lab(n, ""); return err }, []string{"local", "docker"}},
	} {
		var unknown *UnknownError
		err := find.get("On")
		if !errors.As(err, &unknown) || unknown.What != what || unknown.Name != "On" || !slices.Equal(unknown.Known, find.known) {
			t.Errorf("%s: %+v", what, err)
			continue
		}
		if text := err.Error(); !strings.Contains(text, what+` "On"`) || !strings.Contains(text, strings.Join(find.known, ", ")) {
			t.Errorf("%s: %s", what, text)
		}
	}
	if _, err := c.Fault("pause/never"); err == nil || errors.As(err, new(*UnknownError)) {
		t.Errorf("a fault that is known with a length that is none: %v", err)
	}
	c.Faults = append(make([]faults.Fault, 0, 3), c.Faults...) // with room behind it
	if _, err := c.Fault("rare"); err != nil || c.Faults[:3][2].Name != "" {
		t.Errorf("looking wrote into the caller's list: %v, %v", c.Faults[:3], err)
	}
}

// TestSetting is where the plan says, or says what of it is not there.
func TestSetting(t *testing.T) {
	c := some()
	plan := history.Plan{Algorithm: "two", Workload: "counter", Topology: "etcd", Lab: "docker"}
	s, err := c.Setting(plan)
	if err != nil || s.Algorithm.Name != "two" || s.Workload.Name != "counter" || s.Topology.Name != "etcd" || s.Lab.Name != "docker" {
		t.Errorf("%+v, %v", s, err)
	}
	for what, change := range map[string]func(*history.Plan){
		"algorithm": func(p *history.Plan) { p.Algorithm = "" },
		"workload":  func(p *history.Plan) { p.Workload = "" },
		"topology":  func(p *history.Plan) { p.Topology = "" },
		"lab":       func(p *history.Plan) { p.Lab = "" },
	} {
		p := plan
		change(&p)
		var unknown *UnknownError
		if _, err := c.Setting(p); !errors.As(err, &unknown) || unknown.What != what {
			t.Errorf("without its %s: %v", what, err)
		}
	}
}

// TestCheck: lists without a thing, and names that are none or not unique, also across
// the two lists of faults.
func TestCheck(t *testing.T) {
	if err := some().Check(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Catalog){
		"no algorithm":               func(c *Catalog) { c.Locks = nil },
		"no lab":                     func(c *Catalog) { c.Labs = nil },
		`two of the fault "pause"`:   func(c *Catalog) { c.More = append(c.More, faults.Fault{Name: "pause"}) },
		`two of the store "redis"`:   func(c *Catalog) { c.Stores = []guard.Database{{Name: "redis"}, {Name: "redis"}} },
		`two of the algorithm "one"`: func(c *Catalog) { c.Locks = append(c.Locks, lock{name: "one"}) },
		"without a name":             func(c *Catalog) { c.Topologies = append(c.Topologies, lab.Topology{}) },
	} {
		c := some()
		change(&c)
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
}
