// Package memcached is memcached as a backend: its server, and what people do to it. Its locks are in
// impls/memcached.
package memcached

import (
	"slices"

	"github.com/lockbench/lockbench/lab"
)

// Topologies are those of memcached, whose servers know nothing of each other.
func Topologies() []lab.Topology {
	return []lab.Topology{{Name: "memcached", Doc: "one memcached server", Kind: single, Servers: 1}}
}

var single = lab.Kind{
	Name: "memcached", Image: "memcached=memcached:1.6", Software: software, Speaks: Language, Guest: Guest(), Yardstick: Yardstick,
	Needs: []string{"memcached"}, Install: "apt-get install memcached",
	Version: lab.Version{Of: "memcached", Command: []string{"memcached", "--version"}},
	Program: program, Monotonic: true, Clock: clock, Keeps: keeps, Commands: commands,
}

// software takes options by the long names of the command line. What goes behind its -o is another one's value:
// extended=idle_timeout=60.
var software = lab.Software{Name: "memcached",
	Option: func(p lab.Program, name, value string) lab.Program {
		p.Argv = append(slices.Clip(p.Argv), "--"+name+"="+value)
		return p
	},
	Binary: func(p lab.Program, path string) lab.Program {
		p.Argv = append([]string{path}, p.Argv[1:]...)
		return p
	}}
