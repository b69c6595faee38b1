package cli

import (
	"cmp"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"text/tabwriter"

	"github.com/lockbench/lockbench/internal/run"
	"github.com/spf13/cobra"
)

func versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Say which lockbench this is, and what it was built of",
		Long: `version names the version of the module, the revision of its sources, and the versions
of Go and of the libraries that the locks are made of. A run's plan.json repeats them, and
adds the server's.`,
		Example: "  lockbench version\n  lockbench version --json",
		Args:    exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			built := run.Built()
			if asJSON {
				return printJSON(cmd.OutOrStdout(), map[string]any{"schema": 1, "versions": built})
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintf(w, "lockbench\t%s\n", moduleVersion(built))
			fmt.Fprintf(w, "revision\t%s\n", revision(built))
			fmt.Fprintf(w, "go\t%s %s/%s\n", built["go"], runtime.GOOS, runtime.GOARCH)
			for _, path := range slices.Sorted(maps.Keys(built)) {
				switch path {
				case "go", "revision", "modified", run.Module:
				default:
					fmt.Fprintf(w, "%s\t%s\n", path, built[path])
				}
			}
			return w.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object on standard output")
	return cmd
}

func moduleVersion(built map[string]string) string { return cmp.Or(built[run.Module], "(devel)") }

// revision is that of the sources.
func revision(built map[string]string) string {
	r := cmp.Or(built["revision"], "unknown")
	if built["modified"] != "" {
		r += ", with changes"
	}
	return r
}

// thisVersion is what --version says: what there is to quote in a report.
func thisVersion() string {
	built := run.Built()
	return fmt.Sprintf("%s (revision %s)", moduleVersion(built), revision(built))
}
