package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/internal/catalog"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/spf13/cobra"
)

// item is one line of a list.
type item struct {
	Name   string        `json:"name"`
	Doc    string        `json:"doc"`
	Source string        `json:"source,omitempty"`
	Family faults.Family `json:"family,omitempty"`
	// Column says of a fault that it stands in the matrix, At where it strikes a client.
	Column bool   `json:"column,omitempty"`
	At     string `json:"at,omitempty"`
	// Topologies that an algorithm runs on, or on which a fault can strike one of the
	// Algorithms, in one of the Labs.
	Topologies []string `json:"topologies,omitempty"`
	Algorithms []string `json:"algorithms,omitempty"`
	Labs       []string `json:"labs,omitempty"`
	Requests   []string `json:"requests,omitempty"`
	Steps      []string `json:"steps,omitempty"`
	// Mix are the faults that one is made of.
	Mix    []string   `json:"mix,omitempty"`
	Traits *lb.Traits `json:"traits,omitempty"`
}

// list is one kind of things that there are.
type list struct {
	name, intro string
	items       []item
}

func (p program) lists() []list {
	algorithms := list{name: "algorithms", intro: "a fault can strike at each of the steps, as in pause@after-set"}
	var infos []lb.Info // asked for once: each makes all that it expects
	for _, a := range p.Locks {
		i := a.Info()
		infos = append(infos, i)
		algorithms.items = append(algorithms.items, item{Name: i.Name, Doc: i.Doc, Source: i.Source,
			Topologies: i.Topologies, Requests: i.Requests, Steps: i.Steps(), Traits: &i.Traits})
	}
	columns := list{name: "faults", intro: "NAME[@STEP][/LENGTH], such as pause@before-write, cut@after-create/0.7ttl or kill-leader/3s;\n  STEP is one of the algorithm or of the workload, where the fault strikes clients at a step;\n  LENGTH is how long it lasts, some leases (0.7ttl) or a time (3s);\n  several with commas (--fault pause-holder,kill-leader) strike one after the other"}
	for n, f := range slices.Concat(p.Faults, p.More) {
		columns.items = append(columns.items, p.strikes(f, infos, item{Name: f.Name, Doc: f.Doc, Family: f.Family, Column: n < len(p.Faults), At: f.At, Mix: mix(f)}))
	}
	work := list{name: "workloads"}
	for _, w := range p.Workloads {
		i := w.Info()
		work.items = append(work.items, item{Name: i.Name, Doc: i.Doc, Steps: i.Steps})
	}
	topologies := list{name: "topologies"}
	for _, t := range p.Topologies {
		topologies.items = append(topologies.items, item{Name: t.Name, Doc: t.Doc})
	}
	labs := list{name: "labs"}
	for _, d := range p.Labs {
		labs.items = append(labs.items, item{Name: d.Name, Doc: d.Doc})
	}
	stores := list{name: "stores", items: []item{{Name: inMemory, Doc: memoryDoc}}}
	for _, k := range p.Stores {
		stores.items = append(stores.items, item{Name: k.Name, Doc: k.Doc})
	}
	return []list{algorithms, columns, work, stores, topologies, labs}
}

func mix(f faults.Fault) (names []string) {
	for _, one := range f.Mix {
		names = append(names, one.Name)
	}
	return names
}

// strikes fills in what a fault needs: where it can strike whom, with the first workload.
func (p program) strikes(f faults.Fault, infos []lb.Info, i item) item {
	add := func(list *[]string, name string) {
		if !slices.Contains(*list, name) {
			*list = append(*list, name)
		}
	}
	for _, d := range p.Labs {
		for _, t := range p.Topologies {
			for _, l := range infos {
				s := faults.Setting{Lab: d, Topology: t, Algorithm: l, Workload: p.Workloads[0].Info()}
				if slices.Contains(l.Topologies, t.Name) && f.Available(s) == nil {
					add(&i.Labs, d.Name)
					add(&i.Topologies, t.Name)
					add(&i.Algorithms, l.Name)
				}
			}
		}
	}
	return i
}

func (p program) listCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list [algorithms|faults|workloads|stores|topologies|labs [PATTERN]]",
		Short: "Say what there is",
		Long: `list names the algorithms with the steps that their clients pass, the faults with what
they need and how to say where they strike and how long, and the workloads, stores, topologies
and labs that there are to choose from. With a pattern there is one line for each that it fits.`,
		Example:   "  lockbench list faults\n  lockbench list locks 'redis-*'\n  lockbench list algorithms --json",
		ValidArgs: []string{"algorithms", "faults", "workloads", "stores", "topologies", "labs"},
		Args:      args(cobra.MaximumNArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			var picked []list
			names := []string{locks}
			for _, l := range p.lists() {
				names = append(names, l.name)
				if len(args) == 0 || args[0] == l.name || args[0] == locks && l.name == "algorithms" {
					picked = append(picked, l)
				}
			}
			if len(picked) == 0 {
				return usage("unknown list %q%s", args[0], english.Near(args[0], names))
			}
			if len(args) == 2 {
				if err := p.only(&picked[0], args[1]); err != nil {
					return err
				}
			}
			if asJSON {
				byName := map[string][]item{}
				for _, l := range picked {
					byName[l.name] = l.items
				}
				return printJSON(cmd.OutOrStdout(), byName)
			}
			if len(args) == 2 {
				return picked[0].lines(cmd.OutOrStdout())
			}
			return p.print(cmd.OutOrStdout(), picked)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object on standard output")
	return cmd
}

// locks is another name for the algorithms.
const locks = "locks"

// only leaves the items that fit the comma-separated patterns.
func (p program) only(l *list, globs string) (err error) {
	l.items, err = pick(globs, l.items, func(i item) string { return i.Name }, func(name string) (item, error) {
		if l.name == "faults" {
			return p.faultOf(name, l.items)
		}
		unknown := catalog.UnknownError{What: strings.TrimSuffix(l.name, "s"), Name: name}
		if l.name == "topologies" {
			unknown.What = "topology"
		}
		for _, i := range l.items {
			unknown.Known = append(unknown.Known, i.Name)
		}
		return item{}, &unknown
	})
	return err
}

// faultOf is the item of the fault that NAME[@STEP][/LENGTH] says more of.
func (p program) faultOf(text string, items []item) (item, error) {
	if _, err := p.Fault(text); err != nil {
		return item{}, err
	}
	long, _, _ := strings.Cut(text, "/") // some have a step in the name that they are listed by
	short, _, _ := strings.Cut(long, "@")
	i := slices.IndexFunc(items, func(i item) bool { return i.Name == long })
	if i < 0 {
		i = slices.IndexFunc(items, func(i item) bool { return i.Name == short })
	}
	return items[i], nil
}

// lines are the items, one a line.
func (l *list) lines(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, i := range l.items {
		fmt.Fprintf(tw, "%s\t%s\n", i.Name, i.Doc)
	}
	return tw.Flush()
}

func (p program) print(w io.Writer, lists []list) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for n, l := range lists {
		if n > 0 {
			fmt.Fprintln(tw)
		}
		fmt.Fprint(tw, l.name)
		if l.intro != "" {
			fmt.Fprint(tw, ": ", l.intro)
		}
		fmt.Fprintln(tw)
		for _, i := range l.items {
			family := ""
			if i.Family != "" {
				family = string(i.Family) + "\t"
			}
			fmt.Fprintf(tw, "  %s\t%s%s%s\n", i.Name, family, i.Doc, p.more(i))
			for _, line := range under(i) {
				fmt.Fprintf(tw, "\t%s  %s\n", strings.Repeat("\t", strings.Count(family, "\t")), line)
			}
		}
	}
	return tw.Flush()
}

// more is what a line says behind the doc.
func (p program) more(i item) string {
	var says []string
	if n := len(i.Topologies); i.Family != "" && n <= len(p.Topologies)/2 {
		says = append(says, "on "+strings.Join(i.Topologies, ", "))
	}
	if i.Family != "" && len(i.Labs) < len(p.Labs) {
		says = append(says, "lab "+strings.Join(i.Labs, ", "))
	}
	if i.Family != "" && !i.Column {
		says = append(says, "not in the matrix")
	}
	if says != nil {
		return " (" + strings.Join(says, "; ") + ")"
	}
	return ""
}

// under are the lines below an item: what is too long for its own.
func under(i item) (lines []string) {
	if i.Steps != nil {
		lines = append(lines, "steps "+strings.Join(i.Steps, ", "))
	}
	if i.Mix != nil {
		lines = append(lines, "a mix of "+strings.Join(i.Mix, ", "))
	}
	return lines
}
