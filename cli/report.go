package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/reports"
	"github.com/spf13/cobra"
)

func reportCommand() *cobra.Command {
	var out, publish string
	var markdown, asJSON bool
	var ci outputs
	cmd := &cobra.Command{
		Use:   "report DIR…",
		Short: "Make the page of recorded runs and matrices again, or one page of several",
		Long: `report makes the page of a directory again, also of a matrix that was interrupted. Where
the directory can't be written the page goes into the current one.

Several directories become one page in the current directory: the shards of a matrix, the
same matrix on several machines, single runs. Runs of one cell are counted together, and
one that several directories have only once; in what they differ (machine, versions, lab)
is said. Runs on other servers (another version, image or binary) stand in rows of their
own, which name them. A study of quorums stands on the same page, and benchmarks stand there side by side.

With --markdown it prints a summary instead, for the page of a CI. With --json it prints
the cells as lockbench matrix does, and ends with the same exit codes.`,
		Example: `  lockbench report runs/latest
  lockbench report -o all.html shard-1 shard-2 shard-3
  lockbench report --markdown runs/latest >>"$GITHUB_STEP_SUMMARY"
  lockbench report --json shard-1 shard-2 shard-3`,
		Args: args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, dirs []string) error {
			if n := len(slices.DeleteFunc([]bool{markdown, asJSON, out != "", publish != ""}, func(given bool) bool { return !given })); n > 1 {
				return usage("--output, --markdown, --json and --publish are four things: give one")
			}
			for _, dir := range dirs {
				if _, err := rundir.Kind(dir); err != nil {
					return usage("%w", err)
				}
			}
			saveMemory()
			return promptly(cmd.Context(), func() error {
				if asJSON || ci != (outputs{}) {
					if err := joined(cmd, dirs, ci, asJSON); err != nil || asJSON {
						return err
					}
				}
				if publish != "" {
					return published(cmd, publish, dirs)
				}
				if markdown {
					return reports.Markdown(cmd.OutOrStdout(), dirs...)
				}
				return report(cmd, dirs, out)
			})
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "the page to write (default: in the directory, or the current one where there are several)")
	cmd.Flags().BoolVar(&markdown, "markdown", false, "print a summary in Markdown instead")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the cells as one JSON object instead")
	cmd.Flags().StringVar(&publish, "publish", "", "the directory to write README.md and pictures into, for whoever reads a repository and runs nothing")
	ci.add(cmd, false)
	return cmd
}

func published(cmd *cobra.Command, out string, dirs []string) error {
	path, err := reports.Publish(out, dirs...)
	if err == nil {
		fmt.Fprintln(cmd.OutOrStdout(), path)
	}
	return err
}

func report(cmd *cobra.Command, dirs []string, out string) error {
	switch {
	case out != "":
	case len(dirs) > 1:
		out = rundir.PageFile
	case rundir.Writable(dirs[0]) != nil:
		out = pageHere(dirs[0])
		fmt.Fprintf(cmd.ErrOrStderr(), "note: %v; the page is %s\n", rundir.Writable(dirs[0]), out)
	}
	page, err := reports.Joined(dirs, out)
	if err != nil {
		return err
	}
	fmt.Fprintln(cmd.OutOrStdout(), page)
	return nil
}

// joined writes the files for a CI, of the cells of all directories as one matrix. With
// asJSON it prints the cells, too, and is a gate.
func joined(cmd *cobra.Command, dirs []string, ci outputs, asJSON bool) error {
	j, err := rundir.Join(dirs)
	if err != nil {
		return usage("%w", err)
	}
	note(cmd, j.Notes)
	g := gated(j.Cells, j.Planned)
	wrote := ci.write(g)
	if !asJSON {
		return wrote
	}
	return worse(ended(g.Exit), errors.Join(wrote, printJSON(cmd.OutOrStdout(), j.MatrixFile)))
}

// note tells what a reader must know of what was read together.
func note(cmd *cobra.Command, notes []string) {
	for _, n := range notes {
		fmt.Fprintln(cmd.ErrOrStderr(), "note:", n)
	}
}

// pageHere names the page of a directory that can't be written, in the current one: after
// the directory.
func pageHere(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return rundir.Portable(filepath.Base(dir)) + "-" + rundir.PageFile
}
