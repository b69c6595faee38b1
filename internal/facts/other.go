package facts

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/english"
)

func otherQuestions() []Question {
	return []Question{
		{Name: "file", Asks: "whether a file that is there or not excludes others", Topology: topology("none"), ask: file},
		{Name: "listings-zookeeper", Asks: "what the timed try and the try of the published ZooKeeper locks return", Topology: topology("zookeeper"), ask: listings},
	}
}

// file has callers make one file at once, and a process die that has made one.
func file(ctx context.Context, at bench) ([]Fact, error) {
	const callers, rounds = 16, 500
	twice := 0
	for round := range rounds {
		var made atomic.Int32
		var all sync.WaitGroup
		errs := make(chan error, callers)
		for range callers {
			all.Go(func() {
				f, err := os.OpenFile(filepath.Join(at.dir, strconv.Itoa(round)), os.O_CREATE|os.O_EXCL, 0o644)
				if err == nil {
					made.Add(1)
					err = f.Close()
				}
				if err != nil && !errors.Is(err, fs.ErrExist) {
					errs <- err
				}
			})
		}
		all.Wait()
		if len(errs) > 0 {
			return nil, <-errs
		}
		if made.Load() != 1 {
			twice++
		}
	}
	left := filepath.Join(at.dir, "left")
	err := exec.CommandContext(ctx, "sh", "-c", `: > "$0"; kill -9 $$`, left).Run()
	if killed := (*exec.ExitError)(nil); !errors.As(err, &killed) || killed.Exited() {
		return nil, fmt.Errorf("a process was to be killed, and ended with %w", err)
	}
	_, gone := os.Stat(left)
	return []Fact{
		{"one-of-many-makes-it", twice == 0, fmt.Sprintf("of %s that create one file with O_EXCL at once, one succeeded in %d of %s", english.Count(callers, "caller"), rounds-twice, english.Count(rounds, "round"))},
		{"goes-with-its-maker", errors.Is(gone, fs.ErrNotExist), "after the process that made it was killed the file " + isThere(gone == nil)},
	}, nil
}

// user is a client of a published lock.
type user struct {
	lb.Client
	name string
}

// shortTTL is the session that a listing's client asks for, and how long its lock waits at most.
const shortTTL = time.Second

// users are clients of one lock, each with a session of its own.
func users(ctx context.Context, at bench, lock string, names ...string) (all []user, err error) {
	impl, err := at.lock(lock)
	for _, name := range names {
		if err != nil {
			break
		}
		u := user{name: name}
		u.Client, err = impl.Open(ctx, &lb.Env{Client: name, Servers: at.endpoints(), TTL: shortTTL, Clock: lb.HostClock{}, Rand: rand.New(rand.NewPCG(1, 2))})
		if err == nil {
			all = append(all, u)
		}
	}
	return all, err
}

func leave(all []user) {
	for _, u := range all {
		_ = u.Close() // nobody uses the servers any more
	}
}

func (u user) wants(try bool) lb.Request {
	return lb.Request{Lock: "facts", Owner: u.name + ".1", Try: try}
}

// acquire returns how long it took, too.
func (u user) acquire(ctx context.Context, try bool) (time.Duration, error) {
	begun := time.Now()
	_, err := u.Acquire(ctx, u.wants(try))
	return time.Since(begun), err
}

// listings asks for a lock that another client holds and keeps.
func listings(ctx context.Context, at bench) ([]Fact, error) {
	timed, err := timedTry(ctx, at)
	if err != nil {
		return nil, err
	}
	tried, err := refusedTry(ctx, at)
	return []Fact{timed, tried}, err
}

// timedTry is what the listing of 002 returns after the time that it was given. Its lock() waits by
// the same code, for the time of a session.
func timedTry(ctx context.Context, at bench) (f Fact, err error) {
	all, err := users(ctx, at, "published-002-zk-distributedlock", "holder", "other")
	defer leave(all)
	if err != nil {
		return f, err
	}
	if _, err := all[0].acquire(ctx, false); err != nil {
		return f, err
	}
	after, told := all[1].acquire(ctx, false)
	return Fact{"timed-try-of-002-tells-whether", told != nil,
		fmt.Sprintf("the wait of %v for a lock whose holder lives and keeps it ends after %.2f s, and it returns that the lock is %s", shortTTL, after.Seconds(), map[bool]string{true: "its own", false: "not to be had"}[told == nil])}, nil
}

// refusedTry is what a try that the listing of 004 refuses leaves behind.
func refusedTry(ctx context.Context, at bench) (f Fact, err error) {
	all, err := users(ctx, at, "published-004-zk-improvelock", "holder", "other", "third")
	defer leave(all)
	if err != nil {
		return f, err
	}
	if _, err := all[0].acquire(ctx, false); err != nil {
		return f, err
	}
	after, refused := all[1].acquire(ctx, true)
	if !errors.Is(refused, lb.ErrHeld) {
		return f, fmt.Errorf("a try for a held lock: %s", outcome(refused))
	}
	if err := all[0].Release(ctx, all[0].wants(false)); err != nil && !errors.Is(err, lb.ErrReleased) {
		return f, err
	}
	_, next := all[2].acquire(ctx, true)
	if next != nil && !errors.Is(next, lb.ErrHeld) {
		return f, next
	}
	return Fact{"refused-try-of-004-leaves-nothing", next == nil,
		fmt.Sprintf("a try for a held lock is refused after %.0f ms; when the holder has released it, the try of a third client is %s", after.Seconds()*1000, outcome(next))}, nil
}
