// Package stock is the catalogue that lockbench itself has: what a bench of one's own begins with.
//
//	bench := stock.Catalog()
//	bench.Locks = append(bench.Locks, myLock{})
//	os.Exit(cli.Main(os.Args[1:], bench))
package stock

import (
	"github.com/lockbench/lockbench/backends"
	"github.com/lockbench/lockbench/cli"
	"github.com/lockbench/lockbench/docker"
	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/impls/languages"
	"github.com/lockbench/lockbench/lab"
	"github.com/lockbench/lockbench/lab/external"
	"github.com/lockbench/lockbench/workloads"
)

// Catalog is all that there is, anew with each call.
func Catalog() cli.Catalog {
	return cli.Catalog{
		Locks:      impls.All(),
		Groups:     impls.Groups(),
		Faults:     faults.All(),
		More:       faults.More(),
		Workloads:  workloads.All(),
		Topologies: backends.Topologies(),
		Labs:       []lab.Driver{lab.Local(), docker.Driver(), external.Driver()},
		Stores:     backends.Stores(),
		Templates:  languages.Templates(),
	}
}
