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
		{Name: "nats", Doc: "one NATS server with JetStream", Kind: member, Servers: 1, Ensembles: &lab.Ensembles{Title: "NATS", Algorithm: "nats-kv", Most: mostReplicas}},
		{Name: "nats-3", Doc: "a NATS cluster of three, each bucket on all of them", Kind: member, Servers: 3},
	}
}

// mostReplicas is how many servers can keep a bucket (docs.nats.io, "JetStream", "Replication").
const mostReplicas = 5

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
	Option: configured,
	Binary: func(p lab.Program, path string) lab.Program {
		p.Argv, p.Builtin = append([]string{path}, p.Argv[1:]...), false
		return p
	}}

// configured is p with one more line in its configuration file. One of a block stands beside the others of that block:
// of two blocks by one name NATS takes the last.
func configured(p lab.Program, name, value string) lab.Program {
	p.Files, p.Argv = maps.Clone(p.Files), slices.Clip(p.Argv)
	text := p.Files[configuration]
	block, inner, nested := strings.Cut(name, ".")
	if !nested {
		p.Files[configuration] = text + name + ": " + value + "\n"
		return p
	}
	begin, end := block+" {\n", "}\n"
	before, lines, found := strings.Cut(text, begin)
	if !found {
		before, lines = text, end
	}
	lines, after, _ := strings.Cut(lines, end)
	p.Files[configuration] = before + begin + lines + "  " + inner + ": " + value + "\n" + end + after
	return p
}
