package cli

import (
	"fmt"

	"github.com/lockbench/lockbench/docker"
	"github.com/spf13/cobra"
)

func cleanCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "clean",
		Short: "Remove the containers and networks that a crash left",
		Long: `clean removes the containers and networks of docker labs whose lockbench is gone.
The local lab never leaves anything: the kernel ends it with its first process.
Recorded runs are yours to delete.`,
		Example: "  lockbench clean",
		Args:    exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			removed, err := docker.Clean(cmd.Context())
			for _, r := range removed {
				fmt.Fprintln(cmd.OutOrStdout(), "removed", r)
			}
			if err == nil && len(removed) == 0 {
				fmt.Fprintln(cmd.OutOrStdout(), "nothing to clean")
			}
			return err
		},
	}
}
