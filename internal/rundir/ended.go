package rundir

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/lockbench/lockbench/history"
)

// ErrCutShort is a run that was killed before its planned end.
var ErrCutShort = errors.New("the run was cut short")

// ErrProgram is a run that says nothing of its lock, because the program that the lock is did
// what no lock can mean.
var ErrProgram = errors.New("the program did wrong")

// failure is failed.json.
type failure struct {
	Schema int    `json:"schema"`
	Error  string `json:"error"`
	// Program: the error is what the lock's program did wrong.
	Program bool `json:"program,omitempty"`
}

// Fail leaves word of why the bench failed in this run. What a program was blamed for stays:
// it is the cause of the rest.
func (r *Run) Fail(why string) error {
	if f, err := r.failure(); err == nil && f.Program {
		return nil
	}
	return writeJSON(filepath.Join(r.Dir, failedFile), failure{Schema: history.Schema, Error: why})
}

// Blame leaves word of what the lock's program did wrong.
func (r *Run) Blame(what string) error {
	return writeJSON(filepath.Join(r.Dir, failedFile), failure{history.Schema, what, true})
}

// Blamed is what the lock's program did wrong, as an [ErrProgram], or nil.
func (r *Run) Blamed() error {
	if f, err := r.failure(); err == nil && f.Program {
		return fmt.Errorf("%w: %s", ErrProgram, f.Error)
	}
	return nil
}

func (r *Run) failure() (f failure, err error) {
	err = readJSON(filepath.Join(r.Dir, failedFile), &f)
	return f, err
}

// Ended is nil if the run came to its planned end. What was recorded of one that
// did not may look as if it had proved something.
func (r *Run) Ended(ix *history.Index) error {
	if err := r.Blamed(); err != nil {
		return err
	}
	switch f, err := r.failure(); {
	case err == nil:
		return errors.New(f.Error)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	case !ix.Ended && len(ix.Doubts) > 0: // reading stopped there: whether the end came behind it nobody knows
		return fmt.Errorf("the history is not whole: %s", strings.Join(ix.Doubts, "; "))
	case !ix.Ended:
		return ErrCutShort
	}
	return nil
}
