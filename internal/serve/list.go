package serve

import (
	"cmp"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockbench/lockbench/internal/rundir"
)

// depth is how far below the directory others are looked for: runs/ci/shard-1.
const depth = 3

// share is the part of the time that looking into directories, or making pages of what
// still goes on, may take: whoever measures on this machine must not feel it.
const share = 20

// list is what there is.
type list struct {
	dir string

	mu    sync.Mutex
	known map[string]*entry // by name, as they were last seen
	all   []*entry
	err   error
	next  time.Time // when it is worth looking again
}

// entries are all, the newest first. The error says why the directory can't be read.
func (l *list) entries() ([]*entry, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	start := time.Now()
	if start.Before(l.next) {
		return l.all, l.err
	}
	l.all, l.err = l.below("")
	slices.SortStableFunc(l.all, func(a, b *entry) int {
		return cmp.Or(b.When.Compare(a.When), strings.Compare(b.Name, a.Name))
	})
	l.next = time.Now().Add(max(time.Second/2, share*time.Since(start)))
	return l.all, l.err
}

// below finds the entries in the directory, and in those below that are none themselves.
func (l *list) below(name string) (found []*entry, err error) {
	dirs, err := os.ReadDir(filepath.Join(l.dir, filepath.FromSlash(name)))
	if err != nil {
		return nil, err
	}
	for _, d := range dirs {
		sub := path.Join(name, d.Name())
		if !d.IsDir() || hidden(d.Name()) { // also the link "latest", to what stands here anyway
			continue
		}
		e := l.look(sub)
		if len(e.Kinds) > 0 || e.State == running {
			found = append(found, e)
			continue
		}
		var inside []*entry
		if strings.Count(sub, "/") < depth-1 {
			inside, _ = l.below(sub) // its own entry says why not
		}
		if len(inside) == 0 && name == "" {
			inside = []*entry{e}
		}
		found = append(found, inside...)
	}
	return found, nil
}

// look reads a directory, if it is not as it was.
func (l *list) look(name string) *entry {
	dir := filepath.Join(l.dir, filepath.FromSlash(name))
	if e := l.known[name]; e != nil && e.stamp == stamp(dir) {
		return e
	}
	l.known[name] = read(name, dir)
	return l.known[name]
}

// one is the entry of a directory at any depth, also of a run of a matrix.
func (l *list) one(name string) *entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.look(name)
}

// stamp changes when the entry of a directory does.
func stamp(dir string) string {
	s, _ := rundir.Stamp(dir)
	return s + fmt.Sprint(rundir.Held(dir))
}

// hidden are names that nobody is to see: what is about to be written, and what others
// keep in such files.
func hidden(name string) bool { return strings.HasPrefix(name, ".") }
