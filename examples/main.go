// Command examples is lockbench with a lock, a fault, a workload, a topology and a lab of
// its own beside the stock ones: what a team's bench of its own looks like.
package main

import (
	"os"

	"github.com/lockbench/lockbench/cli"
	"github.com/lockbench/lockbench/cli/stock"
)

func main() {
	bench := stock.Catalog()
	bench.Locks = append(bench.Locks, tokenLock{})
	bench.Groups["my-token-lock"] = "Our own"
	bench.Faults = append(bench.Faults, freezeServer())
	bench.Workloads = append(bench.Workloads, shop{})
	bench.Topologies = append(bench.Topologies, redisOnDisk())
	bench.Labs = append(bench.Labs, plain())
	os.Exit(cli.Main(os.Args[1:], bench))
}
