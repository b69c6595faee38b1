package cli

import (
	"fmt"
	"strings"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/internal/progress"
	"github.com/lockbench/lockbench/internal/run"
	"github.com/lockbench/lockbench/internal/stat"
)

// sizeText is how much is going to be done.
func sizeText(m *run.Matrix) string {
	return strings.Join([]string{english.Count(len(m.Algorithms), "algorithm"), english.Count(len(m.Faults), "fault"), english.Count(m.Runs, "run")}, " × ")
}

// plannedText is what is going to be done; in so many shards at once, or 0.
func plannedText(m *run.Matrix, f *matrixFlags, shards int) string {
	s := []string{sizeText(m)}
	if m.Until > 0 {
		s = append(s, fmt.Sprintf("more until the interval of each is narrower than %v", m.Until))
	}
	if m.Budget > 0 {
		s = append(s, fmt.Sprintf("for %v", m.Budget))
	}
	if m.Shard.Of > 0 {
		s = append(s, "shard "+m.Shard.String())
	}
	atOnce := fmt.Sprintf("%d at a time", m.Jobs)
	if shards > 0 {
		atOnce += " in each of " + english.Count(shards, "shard")
	}
	return strings.Join(append(s, atOnce, fmt.Sprintf("seed %d", f.Seed), "into "+f.out), ", ")
}

// sayWide says how many cells are not as sure as was asked for, and how to go on where more runs would help: a cell gets no more of
// them than the most doubtful share takes, whatever they prove.
func sayWide(board *progress.Board, cells []checker.Cell, until float64, onward string) {
	if until <= 0 {
		return
	}
	open, over := 0, 0
	for _, c := range cells {
		switch wide := c.Share != nil && c.Share.High-c.Share.Low >= until; {
		case wide && c.Runs < stat.Runs(.5, until):
			open++
		case wide:
			over++
		}
	}
	const unsure = "%s not as sure as was asked for: the interval is not narrower than %v; %s"
	if open > 0 {
		board.Say(unsure, english.Count(open, "cell"), until, onward)
	}
	if over > 0 {
		board.Say(unsure, english.Count(over, "cell"), until, "too many of the runs proved nothing, and none are added")
	}
}
