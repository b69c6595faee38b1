package cli

import (
	"errors"
	"fmt"
	"io"
	"os"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/history"
	"github.com/lockbench/lockbench/internal/jepsen"
	"github.com/lockbench/lockbench/internal/run"
	"github.com/spf13/cobra"
)

func checkCommand() *cobra.Command {
	var asJSON bool
	var failedRelease string
	cmd := &cobra.Command{
		Use:   "check DIR|FILE",
		Short: "Judge a recorded history again, or one that somebody else recorded",
		Long: `check judges the history of a run's directory (and writes its results.json anew),
or a history file in the format of docs/history.md, whoever wrote it, or a lock
history of Jepsen in EDN or JSON.

Exit code: 0 nothing is wrong with the history, 1 something is, 2 undecided.`,
		Args: exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			reading, err := jepsen.ParseReading(failedRelease)
			if err != nil {
				return usage("%w", err)
			}
			res, err := judge(args[0], reading)
			if err != nil {
				return err
			}
			if asJSON {
				err = printJSON(cmd.OutOrStdout(), res)
			} else {
				err = printResult(cmd.OutOrStdout(), res)
			}
			return errors.Join(err, exitFor(res))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object on standard output")
	cmd.Flags().StringVar(&failedRelease, "failed-release", string(jepsen.Drop),
		"what a release that failed with \"not held\" means in a history of Jepsen: drop (nothing) or ends (the hold had ended)")
	return cmd
}

func judge(path string, reading jepsen.Reading) (lb.RunResult, error) {
	info, err := os.Stat(path)
	if err != nil {
		return lb.RunResult{}, usage("%w", err)
	}
	if info.IsDir() {
		return run.Judge(path)
	}
	h, notes, err := readHistory(path, reading)
	if err != nil {
		return lb.RunResult{}, err
	}
	res := checker.Check(lb.Plan{}, h)
	res.Notes = append(notes, res.Notes...)
	return res, nil
}

// readHistory reads a file in the format that it is in.
func readHistory(path string, reading jepsen.Reading) (lb.History, []string, error) {
	foreign, err := jepsen.Sniff(path)
	if err != nil {
		return nil, nil, err
	}
	if foreign {
		return jepsen.Read(path, reading)
	}
	return history.Read(path)
}

// exitFor looks at the layers, not at the cell: without a plan there is none.
func exitFor(res lb.RunResult) error {
	code := exitKept
	for _, l := range res.Layers {
		switch l.Verdict {
		case lb.Invalid:
			return exit{exitBroke, nil}
		case lb.Undecided:
			code = exitUndecided
		}
	}
	if code != exitKept {
		return exit{code, nil}
	}
	return nil
}

func printResult(w io.Writer, res lb.RunResult) error {
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
