package cli

import (
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/reports"
	"github.com/spf13/cobra"
)

func trendCommand() *cobra.Command {
	least := share(.1)
	cmd := &cobra.Command{
		Use:   "trend OLDEST … NEWEST",
		Short: "Say what became of each cell and each cost over several sets of runs",
		Long: `trend puts several directories, or files that --json has saved, side by side, the oldest
first: the cells that were not the same in all of them, and the figures of benchmarks that
differ between the first and the last as lockbench compare says it. It judges nothing, and
ends with 0: lockbench compare and lockbench gate do.`,
		Example: "  lockbench trend monday.json friday.json runs/latest",
		Args:    args(cobra.MinimumNArgs(2)),
		RunE: func(cmd *cobra.Command, names []string) error {
			var sets []rundir.Saved
			for _, name := range names {
				s, err := rundir.OpenSaved(name)
				if err != nil {
					return usage("%w", err)
				}
				sets = append(sets, s)
			}
			color, width := screen(cmd.OutOrStdout())
			return reports.NewTrend(names, sets, float64(least)).Terminal(cmd.OutOrStdout(), color, width)
		},
	}
	cmd.Flags().Var(&least, "min-difference", "the least difference of a figure that counts, such as 10%; of what many clients share 20% at least")
	return cmd
}
