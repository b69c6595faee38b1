package cli

import (
	"fmt"
	"path/filepath"

	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/reports"
	"github.com/spf13/cobra"
)

func reportCommand() *cobra.Command {
	var out string
	var markdown bool
	var ci outputs
	cmd := &cobra.Command{
		Use:   "report DIR…",
		Short: "Make the pages of recorded runs and matrices again",
		Long: `report makes the page of each directory anew, also of a matrix that was interrupted.
Where the directory can't be written the page goes into the current one.

With --markdown it prints a summary instead, for the page of a CI:
lockbench report --markdown DIR >>"$GITHUB_STEP_SUMMARY"`,
		Args: args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, dirs []string) error {
			if out != "" && len(dirs) > 1 {
				return usage("-o names one page, and there are %d directories", len(dirs))
			}
			for _, dir := range dirs {
				if _, err := rundir.Kind(dir); err != nil {
					return usage("%w", err)
				}
			}
			saveMemory()
			return promptly(cmd.Context(), func() error {
				if markdown {
					return summaries(cmd, dirs)
				}
				if err := ci.ofDirs(dirs); err != nil {
					return err
				}
				return report(cmd, dirs, out)
			})
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "the page to write (default: in the directory)")
	cmd.Flags().BoolVar(&markdown, "markdown", false, "print a summary in Markdown instead")
	ci.add(cmd, false)
	return cmd
}

func report(cmd *cobra.Command, dirs []string, out string) error {
	elsewhere := map[string]bool{}
	for _, dir := range dirs {
		page, err := "", error(nil)
		switch {
		case out != "":
			page, err = reports.HTMLTo(dir, out)
		case rundir.Writable(dir) != nil:
			name := pageHere(dir, elsewhere)
			fmt.Fprintf(cmd.ErrOrStderr(), "note: %v; the page is %s\n", rundir.Writable(dir), name)
			page, err = reports.HTMLTo(dir, name)
		default:
			page, err = reports.HTML(dir)
		}
		if err != nil {
			return err
		}
		fmt.Fprintln(cmd.OutOrStdout(), page)
	}
	return nil
}

func summaries(cmd *cobra.Command, dirs []string) error {
	for _, dir := range dirs {
		if err := reports.Markdown(cmd.OutOrStdout(), dir); err != nil {
			return err
		}
	}
	return nil
}

// pageHere names the page of a directory that can't be written, in the current one:
// after the directory, and another for each.
func pageHere(dir string, taken map[string]bool) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	stem := rundir.Portable(filepath.Base(dir))
	name := stem + "-" + rundir.PageFile
	for n := 2; taken[name]; n++ {
		name = fmt.Sprintf("%s-%d-%s", stem, n, rundir.PageFile)
	}
	taken[name] = true
	return name
}
