package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/gate"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/reports"
	"github.com/spf13/cobra"
)

// ciSummary names the file in which a CI wants the Markdown for its own page. GitHub and
// Gitea have one.
const ciSummary = "GITHUB_STEP_SUMMARY"

// outputs are the files for a CI.
type outputs struct{ junit, csv, summary string }

// add adds the flags. byDefault, the CI's own summary file is written.
func (o *outputs) add(cmd *cobra.Command, byDefault bool) {
	f, own, help := cmd.Flags(), "", ""
	if byDefault {
		own, help = os.Getenv(ciSummary), " (default: the CI's own, $"+ciSummary+")"
	}
	f.StringVar(&o.junit, "junit", "", "the file for the cells as tests, in JUnit's XML")
	f.StringVar(&o.csv, "csv", "", "the file for the cells as CSV")
	f.StringVar(&o.summary, "summary", own, "the file for a summary in Markdown"+help)
	f.Lookup("summary").DefValue = "" // which is not the same everywhere
}

// write writes the files. The CI's own summary is appended to: other steps write there,
// too.
func (o outputs) write(g reports.Gated) error {
	var errs []error
	for _, out := range []struct {
		file  string
		write func(io.Writer) error
	}{{o.junit, g.JUnit}, {o.csv, g.CSV}, {o.summary, g.Markdown}} {
		if out.file != "" {
			errs = append(errs, into(out.file, out.write))
		}
	}
	return errors.Join(errs...)
}

// writable says which of the files can't be written, before runs take their time. It leaves
// nothing. They may lie in the directory made, which the runs make.
func (o outputs) writable(made string) error {
	for _, out := range []struct{ flag, file string }{{"junit", o.junit}, {"csv", o.csv}, {"summary", o.summary}} {
		if out.file == "" {
			continue
		}
		err := writable(out.file)
		if errors.Is(err, fs.ErrNotExist) && made != "" && same(filepath.Dir(out.file), made) {
			err = creatable(made)
		}
		if err != nil {
			return usage("--%s %s: %w", out.flag, out.file, err)
		}
	}
	return nil
}

// same reports whether two paths name one directory, which need not be there.
func same(a, b string) bool {
	a, err := filepath.Abs(a)
	b, err2 := filepath.Abs(b)
	return err == nil && err2 == nil && a == b
}

func writable(file string) error {
	switch info, err := os.Stat(file); {
	case errors.Is(err, fs.ErrNotExist):
		return rundir.Writable(filepath.Dir(file))
	case err != nil:
		return err
	case info.IsDir():
		return errors.New("it is a directory")
	case !info.Mode().IsRegular(): // whoever reads a pipe would see it end
		return nil
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		err = f.Close()
	}
	return err
}

// creatable says why a directory that is not there can't be made, or nil.
func creatable(dir string) error {
	at := filepath.Dir(filepath.Clean(dir))
	for {
		if _, err := os.Lstat(at); err == nil || at == filepath.Dir(at) {
			return rundir.Writable(at)
		}
		at = filepath.Dir(at)
	}
}

func into(file string, write func(io.Writer) error) error {
	how := os.O_CREATE | os.O_WRONLY | os.O_TRUNC
	if file == os.Getenv(ciSummary) {
		how = os.O_CREATE | os.O_WRONLY | os.O_APPEND
	}
	f, err := os.OpenFile(file, how, 0o644)
	if err == nil {
		err = errors.Join(write(f), f.Close())
	}
	if err != nil {
		return usage("%w", err)
	}
	return nil
}

// gated is what these cells, whose directories are as seen from here, are to a gate.
func gated(cells []checker.Cell, planned int) reports.Gated {
	found := findings(cells)
	for i, f := range found {
		for _, c := range cells {
			if c.Row() == f.Algorithm && c.Fault == f.Fault {
				found[i].Again = againIn(c.Dir)
			}
		}
	}
	return reports.Gated{Cells: cells, Planned: planned, Findings: found, Exit: codeOfFindings(found)}
}

// tellAgain prints the commands that reproduce what fails a gate.
func tellAgain(w io.Writer, found []gate.Finding) {
	for _, f := range found {
		if f.Again != "" && (f.Kind == gate.Broken || f.Kind == gate.Blind) {
			fmt.Fprintf(w, "again:  %s\n", f.Again)
		}
	}
}
