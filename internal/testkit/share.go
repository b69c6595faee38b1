package testkit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// placesVar is the environment variable that says how many places this machine has, if not
// two for each processor.
const placesVar = "LOCKBENCH_TEST_PLACES"

// Places is how many labs of one server and a few clients this machine carries at once.
func Places() int {
	if n, err := strconv.Atoi(os.Getenv(placesVar)); err == nil && n > 0 {
		return n
	}
	return 2 * runtime.GOMAXPROCS(0)
}

// Share takes n of the machine's places for the time of the test, and waits until they are
// free. All test processes of a user count together, so that packages can be tested at the
// same time, and two processors are never asked for eight labs of three servers each. A test
// takes one for each lab that it brings up at a time, and one more for each three servers in
// it. It calls Share once, before it starts anything: a test that has some and waits for more may
// wait for ever. So may one that has some while its parallel subtests wait for a slot of
// -parallel, all of which belong to tests that wait for places: with [Main]'s sixteen there is
// always one left.
func Share(t testing.TB, n int) {
	t.Helper()
	start := time.Now()
	free, err := Take(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(free)
	t.Logf("%s%.1f s for %d of %d places", Waited, time.Since(start).Seconds(), n, Places())
}

// Waited begins the line in which a test says how long it has waited for its places, in seconds.
const Waited = "waited "

// Alone takes all places for the time of the test: it measures time, and nothing else may
// run beside it.
func Alone(t testing.TB) {
	t.Helper()
	Share(t, Places())
}

// Take is [Share] for what is not a test; the caller calls free when it has done.
func Take(ctx context.Context, n int) (free func(), err error) {
	return take(ctx, filepath.Join(os.TempDir(), fmt.Sprintf("lockbench-test-places-%d", os.Getuid())), min(max(n, 1), Places()), Places())
}

// queue lets one of a process stand at the door at a time.
var queue = make(chan struct{}, 1)

// take locks the door, and then n of the files: so who wants many is not overtaken for ever
// by those who want few. The kernel unlocks what a process holds that dies.
func take(ctx context.Context, dir string, n, of int) (free func(), err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("testkit: places: %w", err)
	}
	select {
	case queue <- struct{}{}:
		defer func() { <-queue }()
	case <-ctx.Done():
		return nil, fmt.Errorf("testkit: places: %w", ctx.Err())
	}
	var held []*os.File
	free = func() {
		for _, f := range held {
			_ = f.Close()
		}
	}
	door, err := locked(ctx, filepath.Join(dir, "door"))
	if err != nil {
		return nil, err
	}
	defer door.Close()
	for len(held) < n {
		for i := 0; i < of && len(held) < n; i++ {
			f, err := tryLock(filepath.Join(dir, strconv.Itoa(i)))
			if err != nil {
				free()
				return nil, err
			}
			if f != nil {
				held = append(held, f)
			}
		}
		if len(held) < n {
			if err := rest(ctx); err != nil {
				free()
				return nil, err
			}
		}
	}
	return free, nil
}

func locked(ctx context.Context, path string) (*os.File, error) {
	for {
		f, err := tryLock(path)
		if f != nil || err != nil {
			return f, err
		}
		if err := rest(ctx); err != nil {
			return nil, err
		}
	}
}

// tryLock opens the file and locks it; it returns nil if somebody has it.
func tryLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("testkit: places: %w; with another TMPDIR it has a directory of its own", err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return f, nil
	}
	f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		return nil, nil
	}
	return nil, fmt.Errorf("testkit: places: lock %s: %w", path, err)
}

func rest(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return fmt.Errorf("testkit: places: %w", ctx.Err())
	case <-time.After(20 * time.Millisecond):
		return nil
	}
}
