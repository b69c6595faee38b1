package cli

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"

	"github.com/lockbench/lockbench/internal/catalog"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/lab"
	"github.com/spf13/cobra"
)

// finding is what the doctor says of one ability.
type finding struct {
	What string `json:"what"`
	OK   bool   `json:"ok"`
	Note string `json:"note,omitempty"`
	// Needed by the default lab; the others are extras.
	Needed bool `json:"needed"`
}

func (p program) doctorCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what this machine can do, and what it lacks",
		Long: `doctor looks at every lab and at every kind of server, and says what is missing and how to
get it. It ends with 4 if the first lab, the default, can't be had here, or one of its servers that
make servers installs.`,
		Example: "  lockbench doctor\n  lockbench doctor --json",
		Args:    exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			findings := p.examine(cmd.Context())
			if asJSON {
				if err := printJSON(cmd.OutOrStdout(), map[string]any{"schema": 1, "findings": findings}); err != nil {
					return err
				}
			} else {
				for _, f := range findings {
					mark := "ok "
					if !f.OK {
						mark = "NO "
					}
					fmt.Fprintf(cmd.OutOrStdout(), "%s %-42s %s\n", mark, f.What, f.Note)
				}
			}
			if slices.ContainsFunc(findings, func(f finding) bool { return f.Needed && !f.OK }) {
				return exit{exitCantRun, nil}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object on standard output")
	return cmd
}

// examine looks at every lab, and at every kind of servers in those that there are.
func (p program) examine(ctx context.Context) []finding {
	user := "in a user namespace"
	if os.Geteuid() == 0 {
		user = "as root"
	}
	findings := []finding{{What: "system", OK: true, Note: fmt.Sprintf("%s/%s, %s, %s", runtime.GOOS, runtime.GOARCH, english.Count(runtime.NumCPU(), "core"), user)}}
	for i, d := range p.Labs {
		err := d.Ready(ctx, nil)
		findings = append(findings, said(d.Name+" lab: "+d.Doc, err, i == 0))
		if err != nil || d.At != nil { // where there are servers to be named, nobody has
			continue
		}
		for _, t := range p.Topologies {
			if t.Servers == 1 {
				err := d.Absent(t.Kind)
				if err == nil {
					err = d.Ready(ctx, []lab.Kind{t.Kind})
				}
				findings = append(findings, said(d.Name+" lab: "+t.Doc, err, i == 0 && t.Kind.Make == ""))
			}
		}
	}
	for _, l := range p.Locks {
		if needs, ok := l.(catalog.Demanding); ok {
			findings = append(findings, said("lock: "+l.Info().Name, needs.Ready(), false))
		}
	}
	return findings
}

func said(what string, err error, needed bool) finding {
	f := finding{What: what, OK: err == nil, Needed: needed}
	if err != nil {
		f.Note = err.Error()
	}
	return f
}
