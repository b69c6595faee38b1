package testkit

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"
)

// placesVar is the environment variable that says how many places this machine has, if not
// eight for each processor.
const placesVar = "LOCKBENCH_TEST_PLACES"

// Places is how many labs of one server and a few clients this machine carries at once, where
// most of them wait.
func Places() int {
	if n, err := strconv.Atoi(os.Getenv(placesVar)); err == nil && n > 0 {
		return n
	}
	if _, err := processors(); err != nil {
		return sure() // which is all that can be had where nobody knows whether more would do
	}
	return 8 * runtime.GOMAXPROCS(0)
}

// sure is how many places can be had however busy the processors are.
func sure() int { return 2 * runtime.GOMAXPROCS(0) }

// Share takes n of the machine's places for the time of the test, and waits until they are
// free; where more than two for each processor are taken, also until the processors are idle
// enough. All test processes of a user count together, so that packages can be tested at the
// same time: of labs that wait for leases many are up at once, and of those that work few. A test
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

// Only lets one test of the machine at a time do what can't be done beside itself. It comes
// before [Share].
func Only(t testing.TB, what string) {
	t.Helper()
	f, err := locked(t.Context(), filepath.Join(where(), what), func() time.Duration { return 50 * time.Millisecond })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
}

// Take is [Share] for what is not a test; the caller calls free when it has done.
func Take(ctx context.Context, n int) (free func(), err error) {
	r := room{where(), Places(), sure(), idle}
	return r.take(ctx, min(max(n, 1), r.places))
}

// where is the directory of a user's locks.
func where() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("lockbench-test-places-%d", os.Getuid()))
}

// enoughIdle of the processors' time is idle for a moment before one more test begins: the one
// before it has its servers up by then, mostly. Nor is anybody let in where more than tooPressed of
// the last seconds somebody waited for a processor: such a machine has enough to do, whatever a
// moment says, and whoever is let in only makes the others late.
const (
	enoughIdle = 0.3
	moment     = 200 * time.Millisecond
	tooPressed = 0.75
)

// idle reports whether the processors are idle enough, now and for a moment.
func idle(ctx context.Context) (bool, error) {
	before, err := processors()
	if err == nil {
		err = rest(ctx, moment)
	}
	if err != nil {
		return false, err
	}
	after, err := processors()
	return after.idleSince(before) && pressed() <= tooPressed, err
}

// Busy reports whether the processors have so much to do that whoever is to keep a lease of a second may not;
// not where nobody knows.
func Busy(ctx context.Context) bool {
	free, err := idle(ctx)
	return err == nil && !free
}

// idleSince reports whether the processors had enough idle time between the two.
func (s spent) idleSince(before spent) bool {
	return s.idle-before.idle >= enoughIdle*(s.all-before.all)
}

func rest(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return fmt.Errorf("places: %w", ctx.Err())
	case <-time.After(d):
		return nil
	}
}
