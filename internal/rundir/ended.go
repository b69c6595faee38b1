package rundir

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/lockbench/lockbench/history"
)

// ErrCutShort is a run that was killed before its planned end.
var ErrCutShort = errors.New("the run was cut short")

// failure is failed.json.
type failure struct {
	Schema int    `json:"schema"`
	Error  string `json:"error"`
}

// Fail leaves word of why the bench failed in this run.
func (r *Run) Fail(why string) error {
	return writeJSON(filepath.Join(r.Dir, failedFile), failure{history.Schema, why})
}

// Ended is nil if the run came to its planned end. What was recorded of one that
// did not may look as if it had proved something.
func (r *Run) Ended(ix *history.Index) error {
	var f failure
	switch err := readJSON(filepath.Join(r.Dir, failedFile), &f); {
	case err == nil:
		return errors.New(f.Error)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	case !ix.Ended:
		return ErrCutShort
	}
	return nil
}
