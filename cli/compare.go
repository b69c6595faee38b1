package cli

import (
	"errors"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/gate"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/reports"
	"github.com/spf13/cobra"
)

func compareCommand() *cobra.Command {
	var page string
	var markdown, asJSON bool
	cmd := &cobra.Command{
		Use:   "compare BASE HEAD",
		Short: "Say which cells of two sets of runs differ",
		Long: `compare says which cells changed their outcome, mechanism or promise from BASE to HEAD,
and which are new or gone. Each is the directory of a run or a matrix, or a baseline
that was saved: matrix.json, or what --json of matrix or gate printed. Where they are of
other workloads, stores, topologies, TTLs or numbers of clients, it says so.

Exit code: 0 nothing got worse, 1 a cell did, 2 a cell that was decided is undecided or
gone, or there is nothing to compare, 64 usage.`,
		Example: `  lockbench matrix --json >baseline.json
  lockbench compare baseline.json runs/latest --html difference.html`,
		Args: exactly(2),
		RunE: func(cmd *cobra.Command, names []string) error {
			if markdown && asJSON {
				return usage("--markdown and --json: standard output is for one of them")
			}
			base, err := rundir.OpenSaved(names[0])
			if err != nil {
				return usage("%w", err)
			}
			head, err := rundir.OpenSaved(names[1])
			if err != nil {
				return usage("%w", err)
			}
			c, out := reports.Compare(names[0], names[1], base.Cells, head.Cells), cmd.OutOrStdout()
			c.Notes = base.Differ(head, names[0], names[1])
			note(cmd, c.Notes)
			switch {
			case asJSON:
				err = printJSON(out, map[string]any{"schema": history.Schema, "base": names[0], "head": names[1], "notes": append([]string{}, c.Notes...), "changes": c.Changes})
			case markdown:
				err = c.Markdown(out)
			default:
				color, width := screen(out)
				err = c.Terminal(out, color, width)
			}
			if page != "" {
				err = errors.Join(err, c.HTML(page))
			}
			return worse(ended(codeOfChanges(c)), err)
		},
	}
	cmd.Flags().StringVar(&page, "html", "", "the page of the difference to write")
	cmd.Flags().BoolVar(&markdown, "markdown", false, "print a summary in Markdown instead")
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object on standard output")
	return cmd
}

func codeOfChanges(c reports.Compared) int {
	code := exitKept
	if len(c.Base) == 0 || len(c.Head) == 0 {
		code = exitUndecided
	}
	for _, ch := range c.Changes {
		switch ch.Trend {
		case gate.Worse:
			return exitBroke
		case gate.Lost, gate.Gone:
			code = exitUndecided
		}
	}
	return code
}
