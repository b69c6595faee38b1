package history

import (
	"errors"
	"fmt"
	"os"
	"sync"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/clock"
)

// Recorder appends events to one file. What has been recorded survives the death
// of the process at any later instruction, a SIGKILL included. It may be used
// from any goroutine.
//
// The file is mapped into memory, a window at a time: an event is copied into the
// kernel's own pages without a system call, which a client would feel between two
// operations of a lock. Where a file system can't do that, each event is one
// write. A recorder that was killed leaves zero bytes behind its last event;
// readers know them.
type Recorder struct {
	mu     sync.Mutex
	f      *os.File
	end    int64  // of what has been recorded
	window []byte // the mapped part of the file that end lies in; nil: events are written
	used   int    // of the window
	buf    []byte
	err    error
	silent bool // after the last event
	drift  float64
}

// windowSize is how much of the file is reserved at a time, in bytes; a multiple
// of every page size.
const windowSize = 1 << 20

// Create starts a new file of events; an existing one is an error, since events
// are never overwritten.
func Create(path string) (*Recorder, error) { return create(path, header) }

// CreateOwn is Create of a recorder whose clock, of that name, is not that of the others. It runs fast by the
// share drift, which nobody but the recorder sees. Until [SetClock] says how the clock differs, nobody can
// read the file.
func CreateOwn(path, name string, drift float64) (*Recorder, error) {
	r, err := create(path, clockHeader(name, nil))
	if err == nil {
		r.drift = drift
	}
	return r, err
}

// Time is what the recorder's clock shows when the process's shows at.
func (r *Recorder) Time(at lb.Instant) lb.Instant { return at + lb.Instant(float64(at)*r.drift) }

func create(path, header string) (*Recorder, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("create the history: %w", err)
	}
	r := &Recorder{f: f, buf: make([]byte, 0, 1024)}
	if r.window, err = mapWindow(f, 0); err != nil {
		r.window = nil
	}
	if r.append([]byte(header)); r.err != nil {
		return nil, fmt.Errorf("create the history: %w", errors.Join(r.err, f.Close()))
	}
	return r, nil
}

// Record appends ev. A zero ev.At is stamped with the present; callers for whom
// the order of stamping and doing matters stamp it themselves. The first write
// error is kept for Close: the client must not be disturbed by its recorder.
func (r *Recorder) Record(ev Event) {
	r.mu.Lock()
	silent := r.silent
	r.record(&ev)
	r.mu.Unlock()
	if silent {
		select {} // what was not recorded must not be done
	}
}

// Last appends the last event of a process that is about to be killed. Nothing is
// recorded after it: a thread that would record something waits for the end.
func (r *Recorder) Last(ev Event) {
	r.mu.Lock()
	r.record(&ev)
	r.silent = true
	r.mu.Unlock()
}

func (r *Recorder) record(ev *Event) {
	if r.silent {
		return
	}
	if ev.At == 0 {
		ev.At = clock.Now()
	}
	if r.drift != 0 {
		drifted := *ev
		for _, at := range []*lb.Instant{&drifted.At, &drifted.Until, &drifted.Call} {
			if *at != 0 {
				*at = r.Time(*at)
			}
		}
		ev = &drifted
	}
	r.buf = appendEvent(r.buf[:0], ev)
	r.append(r.buf)
}

// append puts the line behind what is there. Nothing is recorded after an error:
// an event in the wrong place would be worse than none. The file then ends in the middle
// of a line, whatever becomes of the process, so that readers see that it is not whole.
func (r *Recorder) append(line []byte) {
	for len(line) > 0 && r.err == nil {
		if r.window == nil {
			var n int
			n, r.err = r.f.WriteAt(line, r.end)
			if r.end += int64(n); r.err != nil {
				r.end -= 2
				_ = r.f.Truncate(r.end) // Close tries again
			}
			return
		}
		n := copy(r.window[r.used:], line)
		line, r.used, r.end = line[n:], r.used+n, r.end+int64(n)
		if r.used == len(r.window) {
			r.advance()
		}
	}
}

// advance maps the next window, or goes over to writing.
func (r *Recorder) advance() {
	r.err = unmap(r.window)
	r.used = 0
	var err error
	if r.window, err = mapWindow(r.f, r.end); err != nil {
		r.window = nil
	}
}

// Close ends the recording and returns the first error that it met.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var unmapped error
	if r.window != nil {
		unmapped = unmap(r.window)
		r.window = nil
	}
	err := errors.Join(r.err, unmapped, r.f.Truncate(r.end), r.f.Close())
	if r.err = os.ErrClosed; err != nil { // a later Record is lost, not a crash
		return fmt.Errorf("record an event: %w", err)
	}
	return nil
}
