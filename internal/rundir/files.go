package rundir

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// PartOf says of the file of one recorder that others lie beside it, which have the rest of the run; nil of any other file.
func PartOf(name string) []string {
	dir := filepath.Dir(name)
	events, _ := (&Run{Dir: filepath.Dir(dir)}).Files()
	if filepath.Base(dir) != eventsDir || len(events) < 2 {
		return nil
	}
	return []string{fmt.Sprintf("%s is what one of %d recorders saw: lockbench check %s judges the whole run", name, len(events), filepath.Dir(dir))}
}

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
