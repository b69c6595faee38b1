package foreign

import (
	"slices"
	"sync"
)

// recent are the owners that were asked for last: a program may speak of one a little after it
// has given the lock back.
type recent struct {
	mu  sync.Mutex
	all []string
}

const mostRecent = 64

func (r *recent) add(owner string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.all); n > 0 && r.all[n-1] == owner {
		return
	}
	r.all = append(r.all[max(0, len(r.all)-mostRecent+1):], owner)
}

func (r *recent) has(owner string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return owner != "" && slices.Contains(r.all, owner)
}
