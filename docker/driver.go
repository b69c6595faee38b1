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
			lab.OwnDisk: "its images keep their data where they like; use --lab local",
		},
	}
}
