package cli

import (
	"errors"
	"io"
	"io/fs"
	"strconv"

	"github.com/lockbench/lockbench/internal/gate"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/reports"
	"github.com/spf13/cobra"
)

// compareFlags are those of compare.
type compareFlags struct {
	least          share
	page, in       string
	markdown, json bool
}

func compareCommand() *cobra.Command {
	c := compareFlags{least: .1}
	cmd := &cobra.Command{
		Use:   "compare BASE HEAD",
		Short: "Say in what two sets of runs differ, or two locks of one set",
		Long: `compare says which cells changed their outcome, mechanism or promise from BASE to HEAD,
which are new or gone, and which figures of the benchmarks that lie there differ. Each is
the directory of a run, a matrix or a benchmark, or what was saved of one: matrix.json,
bench.json, or what --json of matrix, gate or bench printed. Where they are of other
workloads, stores, topologies, TTLs, machines or versions, it says so; which servers only
one of them was run on stands beside its name. Where both have runs of a cell that prove
something, it says how many had the worse outcome, and how often chance alone makes so
large a difference (Fisher's exact test): of one run each that is always, so make some
more of what differs (matrix --runs 10); with --until, or --budget, how many runs there are
depends on what they showed, and that share is a guide only. A cell of which only that
differs is a change where chance is refuted at 5%, corrected (Bonferroni) for all cells.

A figure got worse or better where a Mann-Whitney U test, corrected (Holm) for all
figures that decide, refutes that nothing has changed, and where the whole 95% interval
of the ratio is past --min-difference, of what many clients share past 20% at least. Times and rates are held against the bare writes
that were measured on the same servers in the same round: a slower machine slows those,
too. What decides is what users feel: acquire and release alone, its requests, hand-offs
with 16 clients and their median, and their p99 where there were enough of them. Where
the machine was not quiet, only acquire and release in memory decides, and requests. All
other figures are told, and decide nothing.

With --in, BASE and HEAD are two locks of one matrix or benchmark, side by side: should one
move from the first to the second? It then ends with 0, whichever is better.

Exit code: 0 nothing got worse, 1 a cell did, 3 a figure that decides did, 2 a cell or a
figure that decides can't be told any more, or there is nothing to compare, 64 usage.`,
		Example: `  lockbench matrix --json >baseline.json
  lockbench compare baseline.json runs/latest --html difference.html
  lockbench bench --json >before.json
  lockbench compare before.json perf --min-difference 5%
  lockbench compare redis-setpx-lua etcd-lease --in runs/latest`,
		Args: exactly(2),
		RunE: c.run,
	}
	f := cmd.Flags()
	f.Var(&c.least, "min-difference", "the least difference of a figure that counts, such as 10%; of what many clients share 20% at least")
	f.StringVar(&c.in, "in", "", "compare two locks of this matrix or benchmark (a directory, or a saved file)")
	f.StringVar(&c.page, "html", "", "the page of the difference to write")
	f.BoolVar(&c.markdown, "markdown", false, "print a summary in Markdown instead")
	f.BoolVar(&c.json, "json", false, "one JSON object on standard output: see docs/compare.schema.json")
	return cmd
}

func (c *compareFlags) run(cmd *cobra.Command, names []string) error {
	if c.markdown && c.json {
		return usage("--markdown and --json: standard output is for one of them")
	}
	if c.in != "" {
		return c.locks(cmd, names[0], names[1])
	}
	base, err := rundir.OpenSaved(names[0])
	if errors.Is(err, fs.ErrNotExist) {
		return usage("%w; two locks of one matrix are compared with --in DIR", err)
	} else if err != nil {
		return usage("%w", err)
	}
	head, err := rundir.OpenSaved(names[1])
	if err != nil {
		return usage("%w", err)
	}
	all := reports.Compare(names[0], names[1], base, head, float64(c.least))
	note(cmd, all.Notes)
	if c.json {
		err = all.JSON(cmd.OutOrStdout())
	} else {
		err = c.print(cmd.OutOrStdout(), all)
	}
	if c.page != "" {
		err = errors.Join(err, all.HTML(c.page))
	}
	return worse(ended(codeOfChanges(all)), err)
}

// locks compares two locks of one matrix.
func (c *compareFlags) locks(cmd *cobra.Command, a, b string) error {
	switch {
	case c.page != "" || c.json:
		return usage("--in prints two locks side by side as text or with --markdown: leave out --html and --json")
	case a == b:
		return usage("%s twice: name two locks", a)
	}
	of, err := rundir.OpenSaved(c.in)
	if err != nil {
		return usage("%w", err)
	}
	both, err := reports.CompareLocks(a, b, c.in, of, float64(c.least))
	if err != nil {
		return usage("%s: %w", c.in, err)
	}
	return c.print(cmd.OutOrStdout(), both)
}

// readable is a comparison that people can read, on a page or on a terminal.
type readable interface {
	Markdown(io.Writer) error
	Terminal(w io.Writer, color bool, width int) error
}

// print writes what was compared for people.
func (c *compareFlags) print(out io.Writer, of readable) error {
	if c.markdown {
		return of.Markdown(out)
	}
	color, width := screen(out)
	return of.Terminal(out, color, width)
}

// share is a flag such as 10%.
type share float64

// String implements pflag.Value.
func (s *share) String() string { return strconv.FormatFloat(100*float64(*s), 'g', -1, 64) + "%" }

// Set implements pflag.Value.
func (s *share) Set(text string) error {
	v, err := gate.ParseShare(text)
	*s = share(v)
	return err
}

// Type implements pflag.Value.
func (*share) Type() string { return "share" }

// codeOfChanges is the code of the gravest change.
func codeOfChanges(c reports.Compared) int {
	code := exitKept
	become := func(one int, when bool) {
		if when && gravity(one) > gravity(code) {
			code = one
		}
	}
	p := c.Performance
	become(exitUndecided, !gate.Comparable(c.Base, c.Head) && !p.Compared())
	become(exitUndecided, p.Vanished() || p.Compared() && !p.Told())
	for _, ch := range c.Changes {
		become(exitBroke, ch.Trend == gate.Worse)
		become(exitUndecided, ch.Trend == gate.Lost || ch.Trend == gate.Gone)
	}
	for _, f := range p.Figures {
		become(exitSlow, f.Decides && f.Trend == gate.Worse)
		become(exitUndecided, f.Decides && (f.Trend == gate.Unsure || f.Trend == gate.Gone))
	}
	return code
}
