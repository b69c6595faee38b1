package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/internal/facts"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/lab"
	"github.com/spf13/cobra"
)

// asksServers is the hidden verb.
const asksServers = "asks-servers"

func (p program) factsCommand() *cobra.Command {
	var out string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "facts [QUESTION...]",
		Short: "Ask real servers what locks rest on: nodes, rows, counts, connections, old reads",
		Long: `facts starts servers for each question and finds out what no lock can show by itself, such
as whether an observer's answers are new, or whom FOR UPDATE of one row keeps waiting.
Each fact has a name that holds or not, and what was seen. Without a question all are asked:

` + questionList(),
		Example: "  lockbench facts\n  lockbench facts zookeeper-observer\n  lockbench facts mariadb-index --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			asked, err := questions(args)
			if err != nil {
				return err
			}
			out, driver, err := p.begin(out, "facts", rundir.FactsFile)
			if err != nil {
				return err
			}
			if err := have(cmd.Context(), driver, asked); err != nil {
				return err
			}
			if err := os.MkdirAll(out, 0o755); err != nil {
				return err
			}
			defer rundir.Hold(out)()
			answers, failed := askAll(cmd, driver, out, asked, asJSON)
			err = save(filepath.Join(out, rundir.FactsFile), answers)
			if asJSON {
				err = errors.Join(err, printJSON(cmd.OutOrStdout(), answers))
			}
			return errors.Join(failed, err)
		},
		ValidArgs: questionNames(),
	}
	cmd.Flags().StringVar(&out, "out", "", "the directory to write, with what the servers said (default: runs/<time>-facts)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object on standard output")
	return cmd
}

func questionNames() (names []string) {
	for _, q := range facts.Questions() {
		names = append(names, q.Name)
	}
	return names
}

func questionList() string {
	var b strings.Builder
	for _, q := range facts.Questions() {
		fmt.Fprintf(&b, "  %-20s %s\n", q.Name, q.Asks)
	}
	return strings.TrimRight(b.String(), "\n")
}

// questions are those of the names, each once, or all.
func questions(names []string) (asked []facts.Question, err error) {
	if len(names) == 0 {
		return facts.Questions(), nil
	}
	for _, name := range names {
		q, ok := facts.Find(name)
		if !ok {
			return nil, usage("unknown question %q%s", name, english.Near(name, questionNames()))
		}
		if !slices.ContainsFunc(asked, func(a facts.Question) bool { return a.Name == q.Name }) {
			asked = append(asked, q)
		}
	}
	return asked, nil
}

// have says why the lab can't have the servers of the questions, or nil.
func have(ctx context.Context, driver lab.Driver, asked []facts.Question) error {
	var kinds []lab.Kind
	for _, q := range asked {
		k := q.Topology.Kind
		if q.Topology.Servers > 0 && !slices.ContainsFunc(kinds, func(x lab.Kind) bool { return x.Name == k.Name }) {
			kinds = append(kinds, k)
		}
	}
	if err := driver.Ready(ctx, kinds); err != nil {
		return exit{exitCantRun, err}
	}
	return nil
}

// askAll asks one question after the other, and prints what it hears.
func askAll(cmd *cobra.Command, driver lab.Driver, out string, asked []facts.Question, quiet bool) (facts.Answers, error) {
	all := facts.Answers{Schema: 1}
	var failed error
	for i, q := range asked {
		fmt.Fprintf(cmd.ErrOrStderr(), "[%d/%d] %s\n", i+1, len(asked), q.Name)
		ctx, cancel := context.WithTimeout(cmd.Context(), facts.Bound)
		a, err := studied[facts.Answer](ctx, driver, filepath.Join(out, q.Name), asksServers, q.Name)
		cancel()
		if err != nil {
			a = facts.Answer{Question: q.Name, Asks: q.Asks, Failed: err.Error()}
			failed = errors.Join(failed, fmt.Errorf("%s: %w", q.Name, err))
		}
		all.Answers = append(all.Answers, a)
		if !quiet {
			tell(cmd.OutOrStdout(), a)
		}
	}
	return all, failed
}

func tell(w io.Writer, a facts.Answer) {
	fmt.Fprintf(w, "%s: %s\n", a.Question, a.Asks)
	if a.Failed != "" {
		fmt.Fprintln(w, "  failed:", a.Failed)
	}
	for _, f := range a.Facts {
		fmt.Fprintf(w, "  %-3s %-42s %s\n", map[bool]string{true: "yes", false: "no"}[f.Holds], f.Name, f.Saw)
	}
	fmt.Fprintln(w)
}

// asksServers is the hidden verb: asks-servers QUESTION DIR.
func (p program) asksServers(cmd *cobra.Command, args []string) error {
	q, ok := facts.Find(args[0])
	if !ok {
		return usage("unknown question %q", args[0])
	}
	return p.study(cmd.Context(), args[1], func(l lab.Lab, log logs) (any, error) {
		service, err := lab.StartService(cmd.Context(), l, q.Topology, lab.Options{Log: log})
		if err != nil {
			return nil, err
		}
		own, err := os.MkdirTemp(args[1], "files-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(own)
		return q.Ask(cmd.Context(), service.Servers, p.Lock, own)
	})
}
