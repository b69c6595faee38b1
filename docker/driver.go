// Package docker is the lab whose hosts are containers: each is made from an image, on a
// network of the lab's own that leads nowhere, through testcontainers-go.
//
// The engine makes the containers, each with a first process that only waits. Their
// namespaces are then entered as those of the local lab are: programs are started there
// by this process, which has their output and their signals; packets are dropped in their
// network namespaces, clocks moved and disks filled in their own files. So the lab can do
// what the local one can. The price is that it must run as root, beside the engine.
package docker

import (
	"context"
	"fmt"

	"github.com/lockbench/lockbench/lab"
)

// Driver is the lab in containers.
func Driver() lab.Driver {
	return lab.Driver{
		Name: "docker", Doc: "containers, one for each server and each worker process",
		Foreign: true,
		Enter:   Enter, Open: Open, Ask: ask,
		Ready: func(ctx context.Context, kinds []lab.Kind) error {
			var images []string
			for _, k := range kinds {
				if k.Image == "" {
					return fmt.Errorf("docker: no image is named for %s servers: give their lab.Kind an Image", k.Name)
				}
				images = append(images, k.Image)
			}
			return Check(ctx, images...)
		},
		Claims: []lab.Ability{lab.Packets, lab.ServerClocks, lab.ClientClocks, lab.OwnDisk, lab.StallDisk, lab.FullDisk,
			lab.OwnImages, lab.ClientHosts, lab.Strike, lab.MovingAddress},
		Lacks: map[lab.Ability]string{
			lab.Programs:   "the containers of clients are empty; --lab local runs programs of this machine",
			lab.Distance:   "its network is the engine's; use --lab local",
			lab.OwnClocks:  "a container has the clocks of its machine; use --lab local",
			lab.OwnServers: "it runs what its images contain; name another one with --image SOFTWARE=NAME, or use --lab local",
		},
	}
}
