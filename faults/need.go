package faults

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/internal/english"
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
		return fmt.Errorf("%s runs on %s of which none leads the others", s.Algorithm.Name, english.Count(s.Topology.Servers, "server"))
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
	if s.Algorithm.Copied {
		return fmt.Errorf("%s grants nothing that no replica has", s.Algorithm.Name)
	}
	if s.Topology.Kind.Copied && !s.Algorithm.InMemory {
		return fmt.Errorf("the servers of %s, on %s, confirm nothing that the replica does not have", s.Algorithm.Name, s.Topology.Name)
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

// Sessions needs locks that end with a session, which the servers can end.
func Sessions(s Setting) error {
	if err := AService(s); err != nil {
		return err
	}
	if !s.Algorithm.Traits.Session || !s.Topology.Sessions() {
		return fmt.Errorf("the locks of %s end with no session of the client at the server", s.Algorithm.Name)
	}
	return nil
}

// Knows needs servers to which people can do that.
func Knows(o lab.Operation) Need {
	return func(s Setting) error {
		if err := AService(s); err != nil {
			return err
		}
		if !s.Topology.Knows(o) {
			return fmt.Errorf("the servers of %s, on %s, know no %s", s.Algorithm.Name, s.Topology.Name, o)
		}
		return nil
	}
}

// Growth needs servers that can't go on without more room on their disks.
func Growth(s Setting) error {
	if !s.Topology.Kind.Grows {
		return fmt.Errorf("the servers of %s, on %s, go on for longer than a fault lasts without more room on their disks", s.Algorithm.Name, s.Topology.Name)
	}
	return nil
}

// AnEnsemble needs several servers that agree: a client's session may outlive the server that
// it is connected to, and that may be behind the others, or the one that leads.
func AnEnsemble(s Setting) error {
	if !s.Topology.Quorum() || s.Topology.Servers < 2 {
		return fmt.Errorf("%s does not run on several servers that agree here", s.Algorithm.Name)
	}
	return nil
}

// Scripts needs an algorithm that the server runs a part of.
func Scripts(s Setting) error {
	if !s.Algorithm.Scripts {
		return fmt.Errorf("%s runs no scripts on the server", s.Algorithm.Name)
	}
	return nil
}

// Tables needs an algorithm that keeps its locks in tables.
func Tables(s Setting) error {
	if !s.Algorithm.Tables {
		return fmt.Errorf("%s keeps nothing in a table", s.Algorithm.Name)
	}
	return nil
}

// OnDisk needs an algorithm whose locks its server writes down.
func OnDisk(s Setting) error {
	if err := AService(s); err != nil {
		return err
	}
	if s.Algorithm.InMemory {
		return fmt.Errorf("the server of %s writes nothing to a disk for a lock", s.Algorithm.Name)
	}
	return nil
}

// ServerClocks needs servers whose clocks can be moved.
func ServerClocks(s Setting) error {
	if err := AService(s); err != nil {
		return err
	}
	if s.Lab.Foreign && s.Topology.Kind.Software.Builtin != "" {
		return fmt.Errorf("only the %s that is built into lockbench follows a clock of its own, and the %s lab runs another", s.Topology.Kind.Software.Name, s.Lab.Name)
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

// ATry needs an algorithm that can be asked without waiting.
func ATry(s Setting) error {
	if s.Algorithm.NoTry {
		return fmt.Errorf("%s can't try: who waits in a session that others use, too, would keep them from it", s.Algorithm.Name)
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
