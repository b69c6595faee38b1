package cli

import (
	"fmt"
	"io"
	"text/tabwriter"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/internal/lab"
	"github.com/lockbench/lockbench/workloads"
	"github.com/spf13/cobra"
)

// item is one line of a list.
type item struct {
	Name       string     `json:"name"`
	Doc        string     `json:"doc"`
	Source     string     `json:"source,omitempty"`
	Topologies []string   `json:"topologies,omitempty"`
	Steps      []string   `json:"steps,omitempty"`
	Traits     *lb.Traits `json:"traits,omitempty"`
}

// list is one kind of things that there are.
type list struct {
	name  string
	items func() []item
}

func (p program) lists() []list {
	return []list{
		{"algorithms", func() (items []item) {
			for _, a := range p.impls {
				i := a.Info()
				items = append(items, item{i.Name, i.Doc, i.Source, i.Topologies, i.Steps, &i.Traits})
			}
			return items
		}},
		{"faults", func() (items []item) {
			for _, f := range faults.All() {
				items = append(items, item{Name: f.Name(), Doc: f.Doc()})
			}
			return items
		}},
		{"workloads", func() (items []item) {
			for _, w := range workloads.All() {
				i := w.Info()
				items = append(items, item{Name: i.Name, Doc: i.Doc, Steps: i.Steps})
			}
			return items
		}},
		{"topologies", func() (items []item) {
			for _, t := range lab.Topologies() {
				items = append(items, item{Name: t.Name, Doc: t.Doc})
			}
			return items
		}},
	}
}

func (p program) listCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list [algorithms|faults|workloads|topologies]",
		Short: "Say what there is",
		Args:  args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			picked := map[string][]item{}
			var order, names []string
			for _, l := range p.lists() {
				names = append(names, l.name)
				if len(args) == 0 || args[0] == l.name {
					picked[l.name] = l.items()
					order = append(order, l.name)
				}
			}
			if len(order) == 0 {
				return usage("unknown list %q%s", args[0], near(args[0], names))
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), picked)
			}
			return printLists(cmd.OutOrStdout(), order, picked)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object on standard output")
	return cmd
}

func printLists(w io.Writer, order []string, lists map[string][]item) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for n, name := range order {
		if n > 0 {
			fmt.Fprintln(tw)
		}
		if len(order) > 1 {
			fmt.Fprintln(tw, name)
		}
		for _, i := range lists[name] {
			fmt.Fprintf(tw, "  %s\t%s\n", i.Name, i.Doc)
		}
	}
	return tw.Flush()
}
