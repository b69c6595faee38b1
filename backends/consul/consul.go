// Package consul is HashiCorp's Consul as a backend: its servers, and what people do to them. Its locks are in
// impls/consul. The server is an install of its own, since it takes minutes to build (docker/consul).
package consul

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/lockbench/lockbench/lab"
)

// Topologies are those of Consul. Clients speak to a server, and not, as most installations have it, to an agent beside them
// that speaks to one: their sessions are tied to the health of that server's node.
func Topologies() []lab.Topology {
	return []lab.Topology{
		{Name: "consul", Doc: "one Consul server (make consul builds it)", Kind: member, Servers: 1},
		{Name: "consul-3", Doc: "three Consul servers (make consul builds them)", Kind: member, Servers: 3},
	}
}

// binary is where make consul puts it; else the one in PATH is as good.
var binary = func() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "consul"
	}
	return filepath.Join(cache, "lockbench", "consul-*", "consul")
}()

// member is the kind of its servers.
var member = lab.Kind{
	Name: "consul", Software: software, Speaks: Language, Yardstick: Yardstick,
	Needs: []string{binary}, Make: "consul", Version: lab.Version{Of: "consul", Command: []string{binary, "version"}},
	Program: program, Grows: true, Quorum: true, Monotonic: true, Apart: true,
	Leads: leads, End: end, Counts: counts, Keeps: keeps, Commands: commands,
}

// software takes options by the names of the configuration file; one within a block has a dot before its name:
// performance.raft_multiplier=5.
var software = lab.Software{Name: "consul",
	Option: func(p lab.Program, name, value string) lab.Program {
		p.Argv = append(slices.Clip(p.Argv), "-hcl", setting(name, value))
		return p
	},
	Binary: func(p lab.Program, path string) lab.Program {
		p.Argv = append([]string{path}, p.Argv[1:]...)
		return p
	}}

// setting is a line of the configuration: a number, a truth value and a list as they are, all else in quotes.
func setting(name, value string) string {
	blocks := strings.Split(name, ".")
	if !json.Valid([]byte(value)) {
		value = strconv.Quote(value)
	}
	text := fmt.Sprintf("%s = %s", blocks[len(blocks)-1], value)
	for _, block := range slices.Backward(blocks[:len(blocks)-1]) {
		text = block + " { " + text + " }"
	}
	return text
}
