package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/jepsen"
	"github.com/lockbench/lockbench/internal/run"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/spf13/cobra"
)

func (p program) checkCommand() *cobra.Command {
	c := check{catalog: p.Catalog}
	var failedRelease string
	cmd := &cobra.Command{
		Use:   "check DIR|FILE|-…",
		Short: "Judge recorded histories again, or those that somebody else recorded",
		Long: `check judges the history of a run's directory (and writes its results.json again),
every run of a matrix's directory (and makes its cells again), a history file in the
format of docs/history.md, whoever wrote it, or a lock history of Jepsen in EDN or
JSON. A dash is standard input. Each file may be compressed with gzip.

Exit code: 0 nothing is wrong, 1 something is, 2 undecided or nothing recorded, 4 too
large for this machine's memory, 64 a file that makes no sense. For a matrix 1 means
that a promise broke, as it does when the matrix is run.`,
		Example: `  lockbench check runs/latest
  lockbench check --failed-release ends history.edn.gz
  zcat history.jsonl.gz | lockbench check --json -`,
		Args: args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if c.reading, err = jepsen.ParseReading(failedRelease); err != nil {
				return usage("%w", err)
			}
			c.cmd, c.several = cmd, len(args) > 1
			saveMemory()
			return promptly(cmd.Context(), func() error { return c.all(cmd.Context(), args) })
		},
	}
	cmd.Flags().BoolVar(&c.json, "json", false, "one JSON object a line on standard output for each argument")
	cmd.Flags().StringVar(&failedRelease, "failed-release", string(jepsen.Drop),
		"what a release that failed with \"not held\" means in a history of Jepsen: drop (nothing) or ends (the hold had ended)")
	return cmd
}

// check is the verb at work.
type check struct {
	catalog Catalog
	cmd     *cobra.Command
	reading jepsen.Reading
	json    bool
	several bool
}

// all judges one after the other. What is wrong counts more than what can't be read,
// and that more than what is undecided.
func (c *check) all(ctx context.Context, names []string) error {
	var ended exit
	for _, name := range names {
		err := c.one(ctx, name)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && err.Error() != "" && c.several {
			fmt.Fprintln(c.cmd.ErrOrStderr(), "lockbench:", err)
			err = exit{codeOf(err), nil}
		}
		if code := codeOf(err); gravity(code) > gravity(ended.code) {
			ended = exit{code, err}
		}
	}
	if ended.code == exitKept {
		return nil
	}
	return ended
}

func (c *check) one(ctx context.Context, name string) error {
	if name == "-" {
		return c.history(ctx, c.cmd.InOrStdin(), "stdin", name)
	}
	info, err := os.Stat(name)
	if err != nil {
		return usage("%w", err)
	}
	if !info.IsDir() {
		f, err := os.Open(name)
		if err != nil {
			return usage("%w", err)
		}
		defer f.Close()
		return c.history(ctx, f, name, name)
	}
	kind, err := rundir.Kind(name)
	switch {
	case err != nil:
		return usage("%w", err)
	case kind == rundir.IsMatrix:
		return c.matrix(ctx, name)
	case kind == rundir.IsRun:
		return c.run(ctx, name)
	case kind == rundir.IsExplored:
		orders := "no order broke a lock"
		if at := anOrder(name); at != "" {
			orders = "the orders that broke a lock do, such as " + at
		}
		return usage("%s is an exploration, and has no history: %s%s", name, orders, rundir.OtherLatest(name, rundir.IsRun, rundir.IsMatrix))
	}
	return usage("%s is the directory of %s: it has no history%s", name, kind.One(), rundir.OtherLatest(name, rundir.IsRun, rundir.IsMatrix))
}

func (c *check) run(ctx context.Context, dir string) error {
	r, err := rundir.OpenRun(dir)
	if err != nil {
		return err
	}
	res, err := run.Judge(ctx, c.catalog, r)
	if err != nil {
		return err
	}
	if err := r.SaveResult(res); err != nil {
		res.Notes = append(res.Notes, "not saved: "+err.Error())
	}
	return c.show(dir, res)
}

func (c *check) matrix(ctx context.Context, dir string) error {
	m, err := rundir.OpenMatrix(dir)
	if err != nil {
		return err
	}
	notes, errs := run.JudgeMatrix(ctx, c.catalog, m)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	c.title(dir)
	for _, note := range notes {
		fmt.Fprintln(c.cmd.ErrOrStderr(), "note:", note)
	}
	err = show(c.cmd, below(dir, m.Cells), m.Planned, c.json)
	if len(errs) > 0 && codeOf(err) != exitBroke {
		return exit{codeOf(errs[0]), errors.Join(errs...)}
	}
	return errors.Join(append(errs, err)...)
}

// history judges a history of a format that is told by its beginning. It is read only
// once, since it may be a pipe.
func (c *check) history(ctx context.Context, file io.Reader, name, title string) error {
	in, err := history.Plain(file)
	if err != nil {
		return &history.LineError{File: name, Line: 1, Err: err}
	}
	head, _ := in.Peek(in.Size()) // less than that is all there is
	var ix *history.Index
	if jepsen.Is(strings.TrimSuffix(name, ".gz"), head) {
		ix, err = jepsen.ReadFrom(ctx, in, name, c.reading)
	} else {
		ix, err = history.ReadFrom(ctx, in, name)
	}
	if err != nil {
		return err
	}
	res := checker.Check(ctx, history.Plan{}, ix)
	res.Notes = append(slices.Clip(res.Notes), rundir.PartOf(name)...)
	if len(ix.Faults) == 0 {
		res.Notes = append(res.Notes, "no fault is recorded; if there was one, what is said of times without a fault is of all times")
	}
	return c.show(title, res)
}

func (c *check) show(name string, res checker.Result) error {
	if c.json {
		return errors.Join(printJSON(c.cmd.OutOrStdout(), res), exitFor(res))
	}
	c.title(name)
	return errors.Join(printResult(c.cmd.OutOrStdout(), res), exitFor(res))
}

// title says which of several arguments follows.
func (c *check) title(name string) {
	if c.several && !c.json {
		fmt.Fprintf(c.cmd.OutOrStdout(), "%s:\n", name)
	}
}

// exitFor looks at the layers: without a plan there is no cell. With one, a run that
// proves nothing is undecided, too.
func exitFor(res checker.Result) error {
	code := exitKept
	for _, l := range res.Layers {
		switch l.Verdict {
		case checker.Invalid:
			return exit{exitBroke, nil}
		case checker.Undecided:
			code = exitUndecided
		}
	}
	if isEmpty(res) || res.Plan.Algorithm != "" && res.Outcome == lb.Inconclusive {
		code = exitUndecided
	}
	if code != exitKept {
		return exit{code, nil}
	}
	return nil
}

// isEmpty reports whether no layer found anything to look at.
func isEmpty(res checker.Result) bool {
	return !slices.ContainsFunc(res.Layers, func(l checker.Layer) bool { return l.Verdict != checker.Vacuous })
}

func printResult(w io.Writer, res checker.Result) error {
	for _, note := range res.Notes {
		fmt.Fprintln(w, "note:", note)
	}
	if res.Plan.Algorithm != "" {
		fmt.Fprintf(w, "%s × %s: %s", res.Plan.Algorithm, res.Plan.Fault, res.Outcome)
		if res.Reason != "" {
			fmt.Fprintf(w, " (%s)", res.Reason)
		}
		fmt.Fprintln(w)
	}
	if isEmpty(res) {
		fmt.Fprintln(w, "INCONCLUSIVE: nothing was recorded that could be judged")
	}
	for _, claim := range res.Claims {
		fmt.Fprintln(w, claim)
	}
	for _, l := range res.Layers {
		fmt.Fprintf(w, "%-9s %-10s %s\n", l.Name, l.Verdict, l.Summary)
		for _, f := range l.Findings {
			fmt.Fprintf(w, "          - %s\n", f.Sentence)
		}
		if more := l.Count - len(l.Findings); more > 0 {
			fmt.Fprintf(w, "          and %d more\n", more)
		}
	}
	return nil
}
