package rundir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// What a directory is.
type What string

// What there is.
const (
	IsRun    What = "run"
	IsMatrix What = "matrix"
	IsBench  What = "benchmark"        // a benchmark alone; it may also lie in a matrix's directory
	IsQuorum What = "study of quorums" // alone; it may also lie in a matrix's directory
	// IsExplored is an exploration of one lock or of several; one may also lie in a matrix's
	// directory.
	IsExplored What = "exploration"
)

// One is the kind with its article, such as "an exploration".
func (w What) One() string {
	if w == IsExplored {
		return "an " + string(w)
	}
	return "a " + string(w)
}

// Kind says what the directory is, by the files in it. Otherwise the error, which
// matches [fs.ErrNotExist], says what must be there.
func Kind(dir string) (What, error) {
	for _, k := range []struct {
		file string
		is   What
	}{{matrixFile, IsMatrix}, {planFile, IsRun}, {benchFile, IsBench}, {QuorumFile, IsQuorum}} {
		path := filepath.Join(dir, k.file)
		if exists(path) {
			return k.is, nil
		}
		if _, err := os.Stat(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err // not a directory, or closed
		}
	}
	if len(exploredIn(dir)) > 0 {
		return IsExplored, nil
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return "", Absent("there is no directory %s: name that of a run, a matrix or a benchmark", dir)
	}
	if exists(filepath.Join(dir, FactsFile)) {
		return "", Absent("%s has what lockbench facts was told, in %s: there is no page of it", dir, FactsFile)
	}
	return "", Absent("%s is the directory of neither a run (with %s and %s/) nor a matrix (with %s) nor a benchmark (with %s)", dir, planFile, eventsDir, matrixFile, benchFile)
}
