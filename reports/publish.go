package reports

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/internal/quorum"
	"github.com/lockbench/lockbench/internal/rundir"
)

// Publish writes what is known of the directories, matrices, runs, a benchmark and a study
// of quorums, into the directory out: README.md, with the plots as pictures beside it, for
// somebody who reads a repository and runs nothing. It returns the path of README.md.
func Publish(out string, dirs ...string) (path string, err error) {
	study, _, dirs, studyErr := quorumIn(dirs)
	benches, dirs, benchErr := benchesIn(dirs)
	for _, err := range []error{studyErr, benchErr} {
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	if len(dirs) == 0 {
		return "", rundir.Absent("publish: what was named has a benchmark or a study, and no run: name the directory of a matrix or of a run, too")
	}
	path = filepath.Join(out, "README.md")
	if old, err := os.ReadFile(path); err == nil && !bytes.HasPrefix(old, []byte(publishedTitle)) {
		return "", fmt.Errorf("publish: %s is not of a report's making: name another directory", path)
	}
	p, err := load(dirs)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return "", fmt.Errorf("publish: %w", err)
	}
	v := newView(p, firstOf(benches), place{out, true}, true)
	v.addCost(benches, benchErr)
	if err := v.addPlots(out, benches); err != nil {
		return "", err
	}
	f, err := os.Create(path)
	if err != nil {
		return "", fmt.Errorf("publish: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	b := bufio.NewWriter(f)
	v.publish(b)
	v.publishCost(b, benches)
	if studyErr == nil {
		publishQuorum(b, study)
	}
	v.publishReasons(b)
	return path, b.Flush()
}

// publishedTitle is how every README.md of a report begins.
const publishedTitle = "# Which lock can I trust, under what, and what does it cost me?\n"

func (v *view) publish(b io.Writer) {
	fmt.Fprint(b, publishedTitle+"\n")
	fmt.Fprintf(b, "%s %s\n", escapeMD(v.Summary), escapeMD(v.Control))
	for _, s := range append([]string{v.Unfinished, v.Warning}, v.Notes...) {
		if s != "" {
			fmt.Fprintf(b, "\n> %s\n", escapeMD(s))
		}
	}
	if len(v.Broken) > 0 {
		markdownPromises(b, v.Grid)
	}
	markdownAnswer(b, v)
	markdownAdvice(b, v)
	fmt.Fprint(b, "\n## The matrix\n")
	if !v.Single {
		fmt.Fprint(b, "\n![The matrix: locks by faults](matrix.png)\n")
	}
	for _, group := range v.Grid.ColGroups {
		fmt.Fprintf(b, "\n### Faults: %s\n", cmp.Or(group.Title, "none"))
		part := v.Grid
		part.Cols = group.Names
		markdownCells(b, part)
	}
	markdownKeys(b)
	if len(v.Faults) > 0 {
		fmt.Fprint(b, "\n### What the faults do\n\n")
	}
	for _, f := range v.Faults {
		fmt.Fprintf(b, "- **%s**: %s\n", escapeMD(f.Name), escapeMD(f.Value))
	}
	markdownPlots(b, v.Plots)
	fmt.Fprint(b, "\n## How it was run\n\n| | |\n|---|---|\n")
	for _, f := range v.Facts {
		fmt.Fprintf(b, "| %s | %s |\n", escapeMD(f.Name), escapeMD(f.Value))
	}
}

func markdownAnswer(b io.Writer, v *view) {
	if len(v.Standings) == 0 {
		return
	}
	fmt.Fprint(b, "\n## The answer, at each lock’s worst\n\n| | lock | at its worst | under | longest outage |")
	if v.Cost != nil {
		fmt.Fprint(b, " uncontended | hand-off, median | 99% | requests per grant |")
	}
	fmt.Fprint(b, "\n|---|---|---|---|--:|")
	if v.Cost != nil {
		fmt.Fprint(b, "--:|--:|--:|--:|")
	}
	for _, s := range v.Standings {
		for _, r := range s.Locks {
			how := cmp.Or(strings.Join(r.Mechanisms, ", "), r.Open)
			under := strings.TrimSuffix(r.Under()+"; "+r.Unproven(), "; ")
			fmt.Fprintf(b, "\n| %s %s | %s | %s | %s | %s |", squares[s.Outcome], s.Outcome, escapeMD(r.Name), escapeMD(how), escapeMD(under), span(r.OutageMS))
			if v.Cost != nil {
				p := v.Price(r.Name)
				fmt.Fprintf(b, " %s | %s | %s | %s |", p.Cycle.Text, p.HandOff.Text, p.Late.Text, p.Requests.Text)
			}
		}
	}
	fmt.Fprintln(b)
}

func markdownAdvice(b io.Writer, v *view) {
	switch {
	case len(v.Advice) > 0:
		fmt.Fprintf(b, "\n## Which lock to take\n\nMade of what was measured alone: %s.\n", v.Ranking())
		if len(v.Unadvised) > 0 {
			fmt.Fprintf(b, "Left out, since no server of theirs is known to have died in these runs: %s.\n", strings.Join(v.Unadvised, ", "))
		}
	case len(v.Unadvised) > 0:
		fmt.Fprint(b, "\n## Which lock to take\n\nNone of these, yet: no server of theirs is known to have died in these runs, and what a lock forgets it forgets then.\n")
	}
	for _, a := range v.Advice {
		fmt.Fprintf(b, "\n**%s.** %s\n\n", escapeMD(a.When), escapeMD(a.Care))
		for i, l := range a.Locks {
			fmt.Fprintf(b, "%d. `%s`: %s", i+1, l.Name, escapeMD(l.Says))
			if l.But != "" {
				fmt.Fprintf(b, "; %s", escapeMD(l.But))
			}
			if l.Untried != "" {
				fmt.Fprintf(b, "; not tried: %s", l.Untried)
			}
			if l.Costs != "" {
				fmt.Fprintf(b, "; %s", escapeMD(l.Costs))
			}
			fmt.Fprintln(b)
		}
		if a.None != "" {
			fmt.Fprintln(b, escapeMD(a.None))
		}
	}
}

func markdownPlots(b io.Writer, plots []plotView) {
	for _, p := range plots {
		fmt.Fprintf(b, "\n![%s %s](%s.png)\n", escapeMD(p.Title), escapeMD(p.Caption), p.File)
	}
}

func (v *view) publishCost(b io.Writer, benches []namedBench) {
	if v.Cost == nil {
		return
	}
	fmt.Fprint(b, "\n## What it costs\n")
	for i, one := range benches {
		for _, r := range benchRemarks(one.Bench) {
			fmt.Fprintf(b, "\n> %s\n", escapeMD(one.titled(r)))
		}
		oneBenchMarkdown(b, one, true)
		for _, g := range v.Cost.Benches[i].Plots {
			markdownPlots(b, g.Plots)
		}
	}
}

func publishQuorum(b io.Writer, study quorum.Study) {
	fmt.Fprint(b, "\n## How many servers can a lock service lose?\n")
	for _, s := range meaning(study) {
		fmt.Fprintf(b, "\n%s\n", escapeMD(s))
	}
	fmt.Fprint(b, "\n| | servers | crashes survived | published | after a split, each side |\n|---|--:|--:|--:|---|\n")
	for _, e := range study.Ensembles {
		var sides []string
		for _, s := range e.Splits {
			sides = append(sides, s.Few.String()+", "+s.Many.String())
		}
		fmt.Fprintf(b, "| %s | %d | %d | %s | %s |\n", e.Name(), e.Servers, e.Survives, published(e), strings.Join(sides, "; "))
	}
	for _, s := range remarks(study) {
		fmt.Fprintf(b, "\n%s\n", escapeMD(s))
	}
}

// publishReasons tells of every cell in which somebody was hurt, lock by lock.
func (v *view) publishReasons(b io.Writer) {
	if len(v.Grid.inOrder(isHurt)) == 0 {
		return
	}
	fmt.Fprint(b, "\n## What went wrong, and why\n")
	for _, row := range v.Grid.Rows {
		list := v.Grid.inRow(row, isHurt)
		if len(list) == 0 {
			continue
		}
		fmt.Fprintf(b, "\n<details><summary>%s (%s)</summary>\n\n", escapeMD(row), english.Count(len(list), "cell"))
		for _, c := range list {
			fmt.Fprintf(b, "- %s\n", reasonMD(c))
		}
		fmt.Fprint(b, "\n</details>\n")
	}
}

func reasonMD(c *checker.Cell) string {
	return fmt.Sprintf("**%s**: %s, %s. %s", escapeMD(c.Fault), c.Outcome, ofRuns(c), escapeMD(c.Reason))
}
