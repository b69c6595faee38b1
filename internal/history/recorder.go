package history

import (
	"fmt"
	"os"
	"sync"

	lb "github.com/lockbench/lockbench"
)

const header = `{"lockbench":"history","version":1}` + "\n"

// Recorder appends events to one file, one write per event: what has been
// recorded survives the death of the process at any later instruction.
// It may be used from any goroutine.
type Recorder struct {
	mu  sync.Mutex
	f   *os.File
	buf []byte
	err error
}

// Create starts a new file of events; an existing one is an error, since events
// are never overwritten.
func Create(path string) (*Recorder, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("history: create: %w", err)
	}
	r := &Recorder{f: f, buf: make([]byte, 0, 1024)}
	if _, err := f.WriteString(header); err != nil {
		return nil, fmt.Errorf("history: create: %w", err)
	}
	return r, nil
}

// Record appends ev. A zero ev.At is stamped with the present; callers for whom
// the order of stamping and doing matters stamp it themselves. The first write
// error is kept for Close: the client must not be disturbed by its recorder.
func (r *Recorder) Record(ev lb.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ev.At == 0 {
		ev.At = lb.Now()
	}
	r.buf = appendEvent(r.buf[:0], &ev)
	if _, err := r.f.Write(r.buf); err != nil && r.err == nil {
		r.err = err
	}
}

// Close ends the recording and returns the first error that it met.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.f.Close(); r.err == nil {
		r.err = err
	}
	if r.err != nil {
		return fmt.Errorf("history: record: %w", r.err)
	}
	return nil
}
