package testkit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
)

// room is where places are: a file each, which is locked while it is taken. The kernel unlocks
// what a process holds that dies.
type room struct {
	dir    string
	places int
	sure   int                                 // of these, taken whatever the processors do
	idle   func(context.Context) (bool, error) // reports whether there is room for more
}

// queue lets one of a process stand at the door at a time, and waiting are all who stand in it.
var (
	queue   = make(chan struct{}, 1)
	waiting atomic.Int64
)

// often is how long who stands at the door waits before he tries it again: a process in which many
// wait comes in more often than one with few, so that no package is left when the others have ended.
func often() time.Duration {
	return max(20*time.Millisecond/time.Duration(max(1, waiting.Load())), 500*time.Microsecond)
}

// take locks the door, and then n of the files: so who wants many is not overtaken for ever
// by those who want few.
func (r room) take(ctx context.Context, n int) (free func(), err error) {
	waiting.Add(1)
	defer waiting.Add(-1)
	select {
	case queue <- struct{}{}:
		defer func() { <-queue }()
	case <-ctx.Done():
		return nil, fmt.Errorf("places: %w", ctx.Err())
	}
	door, err := locked(ctx, filepath.Join(r.dir, "door"), often)
	if err != nil {
		return nil, err
	}
	defer door.Close()
	var held []*os.File
	free = func() {
		for _, f := range held {
			_ = f.Close()
		}
	}
	for room := false; err == nil && !room; {
		var others int
		switch held, others, err = r.lock(held, n); {
		case err != nil:
		case len(held) < n:
			err = rest(ctx, 20*time.Millisecond)
		case others == 0, others+n <= r.sure:
			room = true
		default: // others may have left meanwhile
			room, err = r.idle(ctx)
		}
	}
	if err != nil {
		free()
		return nil, err
	}
	return free, nil
}

// lock takes what is free until n are held, and counts what others have.
func (r room) lock(held []*os.File, n int) (now []*os.File, others int, err error) {
	others = -len(held)
	for i := range r.places {
		f, err := tryLock(filepath.Join(r.dir, strconv.Itoa(i)))
		switch {
		case err != nil:
			return held, others, err
		case f == nil:
			others++ // or our own
		case len(held) < n:
			held = append(held, f)
		default:
			_ = f.Close()
		}
	}
	return held, others, nil
}

// locked waits until nobody else has the file.
func locked(ctx context.Context, path string, pause func() time.Duration) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("places: %w", err)
	}
	for {
		f, err := tryLock(path)
		if f != nil || err != nil {
			return f, err
		}
		if err := rest(ctx, pause()); err != nil {
			return nil, err
		}
	}
}

// tryLock opens the file and locks it; it returns nil if somebody has it.
func tryLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("places: %w; with another TMPDIR it has a directory of its own", err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return f, nil
	}
	f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		return nil, nil
	}
	return nil, fmt.Errorf("places: lock %s: %w", path, err)
}
