package reports

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/lockbench/lockbench/internal/quorum"
	"github.com/lockbench/lockbench/internal/rundir"
)

const (
	// quorumWidth is the width in columns of the text below the terminal's table.
	quorumWidth = 84
)

// Quorum writes the study into dir, as quorum.json and as the page quorum.html,
// whose path it returns.
func Quorum(dir string, study quorum.Study) (path string, err error) {
	if err := rundir.SaveQuorum(dir, study); err != nil {
		return "", err
	}
	return writePage(filepath.Join(dir, rundir.QuorumPage), "quorum-page", newQuorumView(study))
}

// quorumIn is the first study in the directories, and those that have runs or a benchmark.
// The error is that of the first directory that has a study which can't be read, or
// matches [fs.ErrNotExist].
func quorumIn(dirs []string) (study quorum.Study, in string, rest []string, err error) {
	err = fs.ErrNotExist
	for _, dir := range dirs {
		s, e := rundir.OpenQuorum(dir)
		if errors.Is(err, fs.ErrNotExist) {
			study, in, err = s, dir, e
		}
		if kind, _ := rundir.Kind(dir); e != nil || kind == rundir.IsMatrix || kind == rundir.IsRun || kind == rundir.IsBench {
			rest = append(rest, dir)
		}
	}
	return study, in, rest, err
}

// QuorumTable writes the study for the terminal.
func QuorumTable(w io.Writer, study quorum.Study) error {
	b := bufio.NewWriter(w)
	line := func(format string, args ...any) {
		fmt.Fprintln(b, strings.TrimRight(fmt.Sprintf(format, args...), " "))
	}
	line("%-9s  %7s  %19s  %s", "", "", "crashes survived", "after a split: what each side can do")
	line("%-9s  %7s  %8s  %9s", "", "servers", "measured", "published")
	last := ""
	for _, e := range study.Ensembles {
		kind := e.Name()
		if kind == last {
			kind = ""
		} else {
			last = kind
		}
		line("%-9s  %7d  %8d  %9s  %s", kind, e.Servers, e.Survives, published(e), splits(e))
	}
	for _, s := range append(meaning(study), remarks(study)...) {
		line("")
		for _, l := range wrap(s, quorumWidth, 0) {
			line("%s", l)
		}
	}
	return b.Flush()
}

func published(e quorum.Ensemble) string {
	switch {
	case e.Published < 0:
		return "-"
	case differs(e):
		return fmt.Sprintf("%d !", e.Published)
	}
	return fmt.Sprint(e.Published)
}

func splits(e quorum.Ensemble) string {
	var all string
	for _, s := range e.Splits {
		all += pad(s.Few.String()+" | "+s.Many.String(), 22)
	}
	return all
}
