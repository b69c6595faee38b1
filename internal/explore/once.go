package explore

import "sync"

// onceError keeps the first error that it is told.
type onceError struct {
	mu  sync.Mutex
	err error
}

func (o *onceError) set(err error) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return false
	}
	o.err = err
	return true
}

func (o *onceError) get() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}
