package lockbench

import "sync"

// Held keeps what a client must remember of each acquisition between Acquire and
// Release, by the owner. The zero value is empty; it may be used from any
// goroutine.
type Held[T any] struct {
	mu sync.Mutex
	m  map[string]T
}

// Put remembers v for the owner.
func (h *Held[T]) Put(owner string, v T) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.m == nil {
		h.m = map[string]T{}
	}
	h.m[owner] = v
}

// Get returns what is remembered for the owner.
func (h *Held[T]) Get(owner string) (v T, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	v, ok = h.m[owner]
	return v, ok
}

// Drop forgets the owner.
func (h *Held[T]) Drop(owner string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.m, owner)
}

// All returns everything that is remembered.
func (h *Held[T]) All() (all []T) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, v := range h.m {
		all = append(all, v)
	}
	return all
}
