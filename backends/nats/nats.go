// Package nats is NATS with JetStream as a backend: its servers, and what people do to them. Its locks are in impls/nats.
package nats

import (
	"maps"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/lab"
)

// Topologies are those of NATS.
func Topologies() []lab.Topology {
	return []lab.Topology{
		{Name: "nats", Doc: "one NATS server with JetStream", Kind: member, Servers: 1, Ensembles: &lab.Ensembles{Title: "NATS", Algorithm: "nats-kv"}},
		{Name: "nats-3", Doc: "a NATS cluster of three, each bucket on all of them", Kind: member, Servers: 3},
	}
}

// member is the kind of its servers.
var member = lab.Kind{
	Name: "nats", Image: "nats=nats:2.15", Software: software, Version: lab.Version{Of: "nats-server", Command: []string{"nats-server", "--version"}},
	Speaks: Language, Yardstick: Yardstick,
	Program: program, Durable: durable, Grows: true, Quorum: true,
	Leads: leads, Elects: electionTimeout, Clock: clock, Counts: counts, Keeps: keeps, Commands: commands,
}

// software is what lockbench contains. Options are those of the configuration file; one within a block has a dot
// before its name: jetstream.max_file_store=1GB.
var software = lab.Software{Name: "nats", Builtin: "github.com/nats-io/nats-server/v2",
	Option: func(p lab.Program, name, value string) lab.Program {
		block, inner, nested := strings.Cut(name, ".")
		if nested {
			return configured(p, block+" { "+inner+": "+value+" }")
		}
		return configured(p, name+": "+value)
	},
	Binary: func(p lab.Program, path string) lab.Program {
		p.Argv, p.Builtin = append([]string{path}, p.Argv[1:]...), false
		return p
	}}

// configured is p with one more line in its configuration file.
func configured(p lab.Program, line string) lab.Program {
	p.Files = maps.Clone(p.Files)
	p.Files[configuration] += line + "\n"
	p.Argv = slices.Clip(p.Argv)
	return p
}
