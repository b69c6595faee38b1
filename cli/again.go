package cli

import (
	"os"
	"strings"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/internal/shell"
	"github.com/lockbench/lockbench/reports"
)

// shellLine is a command of this very program that can be pasted.
func shellLine(words ...string) string {
	return shell.Line(append([]string{os.Args[0]}, words...)...)
}

// again is the command that makes the run of this plan once more.
func again(p history.Plan) string {
	return strings.Join(reports.Command(os.Args[0], p), " ")
}

// againIn is [again] of the run in this directory, "" where there is none.
func againIn(dir string) string {
	if dir == "" {
		return ""
	}
	r, err := rundir.OpenRun(dir)
	if err != nil {
		return ""
	}
	return again(r.Plan)
}
