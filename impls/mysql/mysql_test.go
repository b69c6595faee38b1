package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	driver "github.com/go-sql-driver/mysql"
	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
)

// lab is a server with clients for one test.
type lab struct {
	testing.TB
	ctx     context.Context
	servers []string
	ttl     time.Duration
	count   int
}

func newLab(t testing.TB) *lab {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	return &lab{TB: t, ctx: ctx, servers: labtest.Endpoints(labtest.Servers(t, "mariadb")), ttl: time.Second}
}

// on is the lab for a subtest.
func (l *lab) on(t testing.TB) *lab {
	sub := *l
	sub.TB = t
	return &sub
}

func (l *lab) env(name string) *lb.Env {
	return &lb.Env{Client: name, Servers: l.servers, TTL: l.ttl, Clock: lb.HostClock{}, Rand: rand.New(rand.NewPCG(1, 1))}
}

func (l *lab) open(impl lb.Impl) lb.Client {
	l.Helper()
	l.count++
	c, err := impl.Open(l.ctx, l.env(fmt.Sprint("c", l.count)))
	if err != nil {
		l.Fatal(err)
	}
	l.Cleanup(func() { c.Close() })
	return c
}

// database is a look at the server from outside of the locks.
func (l *lab) database() *sql.DB {
	l.Helper()
	s, err := database.Dial(l.ctx, l.env("database"))
	if err != nil {
		l.Fatal(err)
	}
	l.Cleanup(func() { s.Close() })
	return s.DB
}

func (l *lab) request(lock string) lb.Request {
	l.count++
	return lb.Request{Lock: lock, Owner: fmt.Sprint("r", l.count)}
}

func (l *lab) acquire(c lb.Client, req lb.Request) *lb.Lease {
	l.Helper()
	lease, err := c.Acquire(l.ctx, req)
	if err != nil {
		l.Fatalf("acquire %s: %v", req.Lock, err)
	}
	return lease
}

func (l *lab) release(c lb.Client, req lb.Request, want error) {
	l.Helper()
	if err := c.Release(l.ctx, req); !errors.Is(err, want) {
		l.Fatalf("release %s: %v, want %v", req.Lock, err, want)
	}
}

// TestUnrelatedLock: whether the holder of one lock keeps others from another.
func TestUnrelatedLock(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	l := newLab(t)
	for _, tc := range []struct {
		impl lb.Impl
		want error
	}{
		{ForUpdate(), nil},
		{ForUpdateNoIndex(), lb.ErrHeld},
	} {
		t.Run(tc.impl.Info().Name, func(t *testing.T) {
			l := l.on(t)
			a, b := l.open(tc.impl), l.open(tc.impl)
			for _, name := range []string{"one", "other"} { // so that both rows exist
				req := l.request(name)
				l.acquire(b, req)
				l.release(b, req, nil)
			}
			held, other := l.request("one"), l.request("other")
			l.acquire(a, held)
			other.Try = true
			if _, err := b.Acquire(l.ctx, other); !errors.Is(err, tc.want) {
				t.Fatalf("while one lock is held, a try of the other: %v, want %v", err, tc.want)
			}
			l.release(a, held, nil)
		})
	}
}

// TestOpenBesideHolder: a session can be opened while locks are held: that it
// makes its tables waits for nobody's transaction.
func TestOpenBesideHolder(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	l := newLab(t)
	for _, impl := range []lb.Impl{Insert(), InsertTTL(), Queue(), Version(), ForUpdate(), ForUpdateNoIndex(), GetLock()} {
		c, req := l.open(impl), l.request("lock")
		l.acquire(c, req)
		start := time.Now()
		l.open(impl)
		if d := time.Since(start); d > l.ttl {
			t.Errorf("%s: opened only after %v", impl.Info().Name, d)
		}
	}
}

// TestQueuePassesTheDead: a place whose owner is gone is passed over when it
// expires, not before and not never.
func TestQueuePassesTheDead(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	l := newLab(t)
	c, db := l.open(Queue()), l.database()
	const life = 500 * time.Millisecond
	if _, err := db.ExecContext(l.ctx, "INSERT INTO lockbench_queue_waiters (name, owner, expires) VALUES ('lock', 'dead', "+later+")",
		life.Microseconds()); err != nil {
		t.Fatal(err)
	}
	start, req := time.Now(), l.request("lock")
	l.acquire(c, req)
	if d := time.Since(start); d < life*9/10 || d > life+l.ttl {
		t.Errorf("granted after %v, want about %v", d, life)
	}
	l.release(c, req, nil)
	if n := waiters(l, db); n != 0 {
		t.Errorf("%d places are left in the queue", n)
	}
}

// TestQueueTakesANewPlace: one that was evicted while it waited gets in line again.
func TestQueueTakesANewPlace(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	l := newLab(t)
	holder, c, db := l.open(Queue()), l.open(Queue()), l.database()
	held, req := l.request("lock"), l.request("lock")
	l.acquire(holder, held)
	granted := make(chan error, 1)
	go func() {
		_, err := c.Acquire(l.ctx, req)
		granted <- err
	}()
	for waiters(l, db) == 0 {
		time.Sleep(time.Millisecond)
	}
	if _, err := db.ExecContext(l.ctx, "DELETE FROM lockbench_queue_waiters"); err != nil {
		t.Fatal(err)
	}
	l.release(holder, held, nil)
	select {
	case err := <-granted:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(l.ttl):
		t.Fatal("not granted within a TTL after its place was taken away")
	}
	l.release(c, req, nil)
}

func waiters(l *lab, db *sql.DB) (n int) {
	l.Helper()
	if err := db.QueryRowContext(l.ctx, "SELECT COUNT(*) FROM lockbench_queue_waiters").Scan(&n); err != nil {
		l.Fatal(err)
	}
	return n
}

func TestRefusal(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	for _, tc := range []struct {
		number uint16 // 0: no answer
		want   lb.Answer
		held   bool
	}{
		{duplicateKey, lb.AnswerFailed, true},
		{deadlock, lb.AnswerFailed, true},
		{lockWaitTimeout, lb.AnswerFailed, true},
		{lockNotFree, lb.AnswerFailed, true},
		{1406, lb.AnswerFailed, false}, // the name is too long
		{0, lb.AnswerUnknown, false},
	} {
		err := refusal("INSERT", answer(tc.number))
		if got := lb.AnswerOf(err); got != tc.want || errors.Is(err, lb.ErrHeld) != tc.held {
			t.Errorf("answer %d is taken for %s (%v), want %s", tc.number, got, err, tc.want)
		}
	}
}

func answer(number uint16) error {
	if number == 0 {
		return driver.ErrInvalidConn
	}
	return &driver.MySQLError{Number: number}
}
