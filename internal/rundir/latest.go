package rundir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Home is where directories are made that nobody named.
const Home = "runs"

// NewDir is a name for a new directory, by the time and what it is of.
func NewDir(what string) string {
	return filepath.Join(Home, time.Now().Format("20060102-150405.000")+"-"+Portable(what))
}

// links are the names of the links to the latest of each kind.
var links = map[What]string{IsRun: "latest-run", IsMatrix: "latest-matrix", IsBench: "latest-bench", IsQuorum: "latest-quorum", IsExplored: "latest-explore"}

// Latest points the link "latest" beside dir at it, and the one of its kind, such as
// "latest-matrix". A study of quorums, with which little else can be done, leaves the first one as it is. What is there
// and is no such link is somebody else's, and stays.
func Latest(dir string) (err error) {
	what, unknown := Kind(dir)
	if what != IsQuorum {
		err = point("latest", dir)
	}
	if unknown == nil {
		err = errors.Join(err, point(links[what], dir))
	}
	return err
}

// OtherLatest is for whoever named the link "latest" and wanted one of another kind: "; the
// latest run is runs/latest-run", or "" where there is none.
func OtherLatest(dir string, kinds ...What) (says string) {
	if filepath.Base(dir) != "latest" {
		return ""
	}
	for _, k := range kinds {
		if link := filepath.Join(filepath.Dir(dir), links[k]); isKind(link, k) {
			says += fmt.Sprintf("; the latest %s is %s", k, link)
		}
	}
	return says
}

func isKind(dir string, k What) bool {
	what, err := Kind(dir)
	return err == nil && what == k
}

// point makes a link of that name beside dir.
func point(name, dir string) error {
	link := filepath.Join(filepath.Dir(dir), name)
	_, err := os.Lstat(link)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	default:
		if to, err := os.Readlink(link); err != nil || to == ".." || to != filepath.Base(to) {
			return nil
		}
	}
	// Another lockbench may do the same now: the link is replaced at once.
	fresh := fmt.Sprintf("%s.%d", link, os.Getpid())
	if err := os.Symlink(filepath.Base(dir), fresh); err != nil {
		return err
	}
	if err := os.Rename(fresh, link); err != nil {
		return errors.Join(err, os.Remove(fresh))
	}
	return nil
}
