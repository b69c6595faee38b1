package reports

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/lockbench/lockbench/internal/rundir"
)

// link leads from the page to a file beside it.
type link struct{ Name, Href string }

// place is the directory that a page is written into, from where its links lead. They
// work as long as page and runs are moved together.
type place struct {
	dir string
	// readOnly: nothing may be written there.
	readOnly bool
}

// to is the way from the page to a path, "" where there is none.
func (p place) to(target string) string {
	from, err := filepath.Abs(p.dir)
	if err != nil {
		return ""
	}
	if target, err = filepath.Abs(target); err != nil {
		return ""
	}
	way, err := filepath.Rel(from, target)
	if err != nil {
		return ""
	}
	return filepath.ToSlash(way)
}

// directory leads to all that a run has left.
func (p place) directory(r *rundir.Run) []link {
	if r == nil || p.to(r.Dir) == "" {
		return nil
	}
	return []link{{"files", p.to(r.Dir) + "/"}}
}

// files lead to the history and to the logs of a run.
func (p place) files(r *rundir.Run) (events, logs []link) {
	dir := p.to(r.Dir)
	if dir == "" {
		return nil, nil
	}
	all := func(names []string) (list []link) {
		for _, name := range names {
			shown, _, _ := strings.Cut(path.Base(name), ".")
			list = append(list, link{shown, path.Join(dir, name)})
		}
		return list
	}
	e, l := r.Files()
	return all(e), all(l)
}

// drawn is the file that [checker.Visualize] writes of a cell, which is to be made unless
// it is there.
func (p place) drawn(name string) (file string, l link, missing bool) {
	file = filepath.Join(p.dir, rundir.DrawnDir, name+".html")
	_, err := os.Stat(file)
	return file, link{"porcupine’s picture", p.to(file)}, err != nil
}
