package faults

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/lab"
)

// Need says why something is missing in a setting, or nil.
type Need func(Setting) error

// Can needs a lab that can do it.
func Can(a lab.Ability) Need {
	return func(s Setting) error { return s.Lab.Can(a) }
}

// AService is a lock service that there is.
func AService(s Setting) error {
	if s.Topology.Servers == 0 {
		return fmt.Errorf("%s has no lock service", s.Algorithm.Name)
	}
	return nil
}

// ALeader needs servers of which one leads the others.
func ALeader(s Setting) error {
	if !s.Topology.Leads() {
		return fmt.Errorf("%s runs on %d servers of which none leads the others", s.Algorithm.Name, s.Topology.Servers)
	}
	return nil
}

// AnElection needs servers that find a new leader by themselves.
func AnElection(s Setting) error {
	if err := ALeader(s); err != nil {
		return err
	}
	if !s.Topology.Elects() {
		return fmt.Errorf("the servers of %s elect no leader by themselves; failover promotes one", s.Algorithm.Name)
	}
	return nil
}

// NoQuorum needs servers that answer before the others know.
func NoQuorum(s Setting) error {
	if s.Topology.Quorum() {
		return fmt.Errorf("the servers of %s grant nothing that a majority does not know", s.Algorithm.Name)
	}
	return nil
}

// NoCluster needs servers that know nothing of each other.
func NoCluster(s Setting) error {
	if s.Topology.Leads() {
		return errors.New("a server of a cluster that comes back empty under its old name breaks the cluster's own rules")
	}
	return nil
}

// ServerClocks needs servers whose clocks can be moved.
func ServerClocks(s Setting) error {
	if err := AService(s); err != nil {
		return err
	}
	if !s.Topology.Clock() {
		return fmt.Errorf("the clock of a %s server can't be moved apart from its machine's", s.Topology.Kind.Name)
	}
	return s.Lab.Can(lab.ServerClocks)
}

// MovesServerClocks reports whether the servers need clocks that can be moved.
func (f Fault) MovesServerClocks(s Setting) bool {
	return f.Family == Clocks && ServerClocks(s) == nil || slices.ContainsFunc(f.Mix, func(one Fault) bool { return one.MovesServerClocks(s) })
}

// FiveServers needs five.
func FiveServers(s Setting) error {
	if s.Topology.Servers != 5 {
		return fmt.Errorf("%s does not run on five servers here", s.Algorithm.Name)
	}
	return nil
}

// SeveralServers needs more than one.
func SeveralServers(s Setting) error {
	if s.Topology.Servers < 2 {
		return fmt.Errorf("%s runs on one server, which can't be halved", s.Algorithm.Name)
	}
	return nil
}

// ALease needs an algorithm whose clients look at their own clocks.
func ALease(s Setting) error {
	if !s.Algorithm.Traits.Leased {
		return fmt.Errorf("%s reads no clock of its client", s.Algorithm.Name)
	}
	return nil
}

// Requests needs an algorithm that asks a server.
func Requests(s Setting) error {
	if len(s.Algorithm.Requests) == 0 {
		return fmt.Errorf("%s sends no requests", s.Algorithm.Name)
	}
	return nil
}

// knows says whether a client of the setting ever passes the step.
func knows(s Setting, step string) error {
	steps := slices.Concat(s.Algorithm.Steps(), s.Workload.Steps)
	if slices.Contains(steps, step) {
		return nil
	}
	return fmt.Errorf("%s under %s has no step %s; it has %s",
		s.Algorithm.Name, s.Workload.Name, step, strings.Join(steps, ", "))
}
