// Command lockbench puts distributed locks under faults, on real servers, and
// says which of them can be trusted under what. See the README.
package main

import (
	"os"

	"github.com/lockbench/lockbench/cli"
	"github.com/lockbench/lockbench/docker"
	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/impls/languages"
	"github.com/lockbench/lockbench/lab"
	"github.com/lockbench/lockbench/lab/external"
	"github.com/lockbench/lockbench/workloads"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], cli.Catalog{
		Locks:      impls.All(),
		Faults:     faults.All(),
		More:       faults.More(),
		Workloads:  workloads.All(),
		Topologies: lab.Topologies(),
		Labs:       []lab.Driver{lab.Local(), docker.Driver(), external.Driver()},
		Templates:  languages.Templates(),
	}))
}
