package docker

import (
	"context"

	"github.com/lockbench/lockbench/lab"
)

// Driver is the lab in containers.
func Driver() lab.Driver {
	const signalsOnly = "it has the faults that need only signals; use --lab local"
	return lab.Driver{
		Name: "docker", Doc: "servers in containers, clients on this machine",
		Open: Open,
		Ready: func(ctx context.Context, kinds []lab.Kind) error {
			var names []string
			for _, k := range kinds {
				names = append(names, k.Name)
			}
			return Check(ctx, names...)
		},
		Lacks: map[lab.Ability]string{
			lab.Packets: signalsOnly, lab.MoveAddress: signalsOnly, lab.ServerClocks: signalsOnly,
			lab.StallDisk:   "a container is started by its engine; use --lab local",
			lab.FullDisk:    "the disk of a container is this machine's; use --lab local",
			lab.OwnServers:  "it runs what its images contain; use --lab local",
			lab.ClientHosts: "all clients run on this machine; use --lab local",
			lab.OwnDisk:     "its images keep their data where they like; use --lab local",
		},
	}
}
