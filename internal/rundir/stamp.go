package rundir

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Stamp changes whenever one of the directory's own files is written anew that a page of it
// is made of: those of the runs of a matrix are no such, since whoever judges one anew writes
// the matrix, too. Last is when that was, the zero time where there are none.
func Stamp(dir string) (stamp string, last time.Time) {
	var b strings.Builder
	for _, file := range []string{matrixFile, planFile, resultFile, failedFile, benchFile, QuorumFile, filepath.Join(quorumDir, QuorumFile), exploredFile, ExploredDir} {
		for _, name := range []string{file, file + gz} {
			info, err := os.Stat(filepath.Join(dir, name))
			if err != nil {
				continue
			}
			fmt.Fprintf(&b, "%s %d %d\n", name, info.Size(), info.ModTime().UnixNano())
			if info.ModTime().After(last) {
				last = info.ModTime()
			}
		}
	}
	return b.String(), last
}
