package cli

import (
	"fmt"
	"os"

	"github.com/lockbench/lockbench/reports"
	"github.com/spf13/cobra"
)

func reportCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "report DIR…",
		Short: "Make the page of a recorded run or matrix again",
		Args:  args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, dirs []string) error {
			for _, dir := range dirs {
				if _, err := os.Stat(dir); err != nil {
					return usage("%w", err)
				}
				page, err := reports.HTML(dir)
				if err != nil {
					return err
				}
				fmt.Fprintln(cmd.OutOrStdout(), page)
			}
			return nil
		},
	}
}
