package cli

import (
	"fmt"

	"github.com/lockbench/lockbench/docker"
	"github.com/spf13/cobra"
)

func cleanCommand() *cobra.Command {
	var at placeFlags
	cmd := &cobra.Command{
		Use:   "clean",
		Short: "Remove what a crash left: containers and networks, or jobs of a cluster",
		Long: `clean removes the containers and networks of docker labs whose lockbench is gone.
The local lab never leaves anything: the kernel ends it with its first process.
Recorded runs are yours to delete.

With --on kubernetes it removes, of the jobs that lockbench matrix has made in the
namespace, those that have ended and those that nobody follows any more. What they had
recorded and nobody has collected is gone then; matrix --follow collects it before.`,
		Example: "  lockbench clean\n  lockbench clean --on kubernetes --namespace locks",
		Args:    exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			there, err := at.asked(cmd)
			if err != nil {
				return err
			}
			var removed []string
			if there {
				removed, err = cleanCluster(cmd, at)
			} else {
				removed, err = docker.Clean(cmd.Context())
			}
			for _, r := range removed {
				fmt.Fprintln(cmd.OutOrStdout(), "removed", r)
			}
			if err == nil && len(removed) == 0 {
				fmt.Fprintln(cmd.OutOrStdout(), "nothing to clean")
			}
			return err
		},
	}
	at.add(cmd.Flags(), "where to look: "+onKubernetes+" (default: the container engine of this machine)")
	return cmd
}

// cleanCluster says of what stays why.
func cleanCluster(cmd *cobra.Command, at placeFlags) ([]string, error) {
	cluster, err := connect(cmd, at.Place)
	if err != nil {
		return nil, err
	}
	removed, left, err := cluster.Clean(cmd.Context())
	note(cmd, left)
	return removed, err
}
