package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"syscall"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/gate"
	"github.com/lockbench/lockbench/internal/run"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/lab"
)

// The exit codes say what happened. 70 instead of Go's own 2 for a panic, which
// would read as "undecided".
const (
	exitKept        = 0 // every promise held
	exitBroke       = 1 // a promise broke, or a known break is no longer seen
	exitUndecided   = 2 // undecided, or no data: nothing was run, or a run failed
	exitSlow        = 3 // a performance limit, or a cost that got worse
	exitCantRun     = 4 // this machine can't run it
	exitUsage       = 64
	exitInternal    = 70 // a bug of lockbench
	exitInterrupted = 130
)

// exitCodes says so to the reader.
const exitCodes = `Exit codes: 0 every promise held, 1 a promise broke, or a known break is no longer
seen, 2 undecided or no data (a run that failed is none), 3 a performance limit, or a cost
that got worse, 4 this machine can't run it, 64 usage, 70 a bug of lockbench, 130
interrupted. A broken promise counts more than a run that failed, that more than a limit,
and that more than what is undecided; what was done is reported all the same.`

// exit is an error that knows its exit code. An empty text prints nothing.
type exit struct {
	code int
	err  error
}

func (e exit) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}
func (e exit) Unwrap() error { return e.err }

func usage(format string, args ...any) error { return exit{exitUsage, fmt.Errorf(format, args...)} }

func codeOf(err error) int {
	var e exit
	var line *history.LineError
	is := func(some ...error) bool {
		return slices.ContainsFunc(some, func(one error) bool { return errors.Is(err, one) })
	}
	switch {
	case err == nil:
		return exitKept
	case errors.As(err, &e):
		return e.code
	case is(run.ErrBug):
		return exitInternal
	case is(syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE, lab.ErrMissing, history.ErrTooLarge):
		return exitCantRun
	case is(run.ErrFailed):
		return exitUndecided
	case errors.As(err, &line), is(fs.ErrExist, fs.ErrNotExist, fs.ErrPermission, rundir.ErrMixed):
		return exitUsage
	}
	return exitCantRun // whatever the machine would not let us do
}

// gravityOf orders the ends of the program: the gravest is that of the whole. A run that
// failed is no data, and yet counts more than a limit: what was measured beside it is not
// all that was to be.
func gravityOf(err error) int {
	if code := codeOf(err); code != exitUndecided || !errors.Is(err, run.ErrFailed) {
		return gravity(code)
	}
	return gravity(exitCantRun)
}

// gravity orders the codes.
func gravity(code int) int {
	switch code {
	case exitKept:
		return 0
	case exitUndecided:
		return 1
	case exitSlow:
		return 2
	case exitBroke:
		return 4
	}
	return 3
}

// codeOfFindings is the code of the gravest reason to fail.
func codeOfFindings(found []gate.Finding) int {
	code := exitKept
	for _, f := range found {
		one := exitUndecided
		switch f.Kind {
		case gate.Broken, gate.Blind:
			one = exitBroke
		case gate.Slow:
			one = exitSlow
		}
		if gravity(one) > gravity(code) {
			code = one
		}
	}
	return code
}

// worse is the graver of two ends. A text of the other is not lost.
func worse(a, b error) error {
	if gravityOf(b) > gravityOf(a) {
		a, b = b, a
	}
	switch {
	case b == nil || b.Error() == "":
		return a
	case a.Error() == "":
		return exit{codeOf(a), b}
	}
	return exit{codeOf(a), errors.Join(a, b)}
}

// findings are what cells alone do to a gate. No cell at all is no data.
func findings(cells []checker.Cell) (found []gate.Finding) {
	for _, c := range cells {
		if f := gate.Of(c); f != nil {
			found = append(found, *f)
		}
	}
	if len(cells) == 0 {
		found = append(found, gate.Finding{Kind: gate.NoData, Says: "nothing was run"})
	}
	return found
}

// ended is the error that ends the program with this code, and says nothing more.
func ended(code int) error {
	if code == exitKept {
		return nil
	}
	return exit{code, nil}
}
