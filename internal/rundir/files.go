package rundir

import (
	"os"
	"path"
	"strings"
)

// Files are what a reader of the run may want to open, by their paths below its directory,
// with slashes: the history, a file for each recorder, and what the programs printed. What
// is empty or can't be listed is left out.
func (r *Run) Files() (events, logs []string) {
	list := func(dir, ext string) (found []string) {
		entries, _ := os.ReadDir(path.Join(r.Dir, dir))
		for _, e := range entries {
			info, err := e.Info()
			if err == nil && info.Size() > 0 && strings.HasSuffix(strings.TrimSuffix(e.Name(), gz), ext) {
				found = append(found, path.Join(dir, e.Name()))
			}
		}
		return found
	}
	return list(eventsDir, eventsExt), list(logsDir, logExt)
}
