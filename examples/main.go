// Command examples is lockbench with a lock, a fault, a workload and a topology of its
// own beside the stock ones: what a team's bench of its own looks like.
package main

import (
	"os"

	"github.com/lockbench/lockbench/cli"
	"github.com/lockbench/lockbench/docker"
	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/lab"
	"github.com/lockbench/lockbench/lab/external"
	"github.com/lockbench/lockbench/workloads"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], cli.Catalog{
		Locks:      append(impls.All(), tokenLock{}),
		Faults:     append(faults.All(), freezeServer()),
		More:       faults.More(),
		Workloads:  append(workloads.All(), shop{}),
		Topologies: append(lab.Topologies(), redisOnDisk()),
		Labs:       []lab.Driver{lab.Local(), docker.Driver(), external.Driver()},
	}))
}
