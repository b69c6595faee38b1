package explore

import (
	"context"
	"fmt"
	"runtime/metrics"
	"time"
)

// The scheduler lets the next move go when all is quiet: when nobody can do anything any more
// until it does. Mostly that is known at once, since every client stands at a step. A client that
// waits for something of the server's may be about to hear of it; then everybody is looked at:
// the threads of the servers and of all other programs of the lab, the goroutines of this
// process, and what has passed between them.
const (
	// look is how long a look at everybody lasts.
	look = 150 * time.Microsecond
	// looks in which nothing moved make quiet. Where somebody is on the way to a server or from
	// it and has not said that it may have to wait there, or some goroutine always runs, only
	// time does.
	looks      = 3
	enough     = 12 * time.Millisecond
	farTooLong = time.Second // a driver may rest before it tries again, and a program start others
	// quietBound is how long it may take to become quiet.
	quietBound = 10 * time.Second
)

// longest is how long an order may take, where each of its moves is done in milliseconds: a client that
// asks for ever, and waits in the server each time, comes to no end otherwise.
const longest = 30 * time.Second

// slowest is how long it may take to hear of what has happened.
func (e *engine) slowest() time.Duration { return max(e.lags, 13*time.Millisecond) }

// rests is how long a driver may take to be back whose session has ended: ZooKeeper's for Go rests for a
// second when it has tried all servers, and then has to connect, on a machine that may be busy.
const rests = 3 * farTooLong

// patience is how long it takes at least to be sure, after a move, that nothing more comes.
func (e *engine) patience(m Move) time.Duration {
	if m.What == "watch" {
		return e.lags
	}
	return 0
}

func enoughOf(rushed bool) time.Duration {
	if rushed {
		return farTooLong
	}
	return enough
}

// settle returns when all is quiet after a move.
func (o *order) settle(ctx context.Context, m Move) error {
	if time.Since(o.began) > longest {
		return errLong
	}
	// That a session has ended comes unasked.
	return o.quiet(ctx, o.e.patience(m), m.Fault() && o.e.ends != endsLeases)
}

// quiet returns when all has been quiet for so long at least, or, where nothing comes unasked, as soon as
// nobody can do anything.
func (o *order) quiet(ctx context.Context, least time.Duration, unasked bool) error {
	started := time.Now()
	var last uint64
	for still, since := 0, started; ; {
		at, rushed, sure := o.state()
		sure = sure && !unasked
		switch {
		case sure:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case time.Since(started) > quietBound:
			return fmt.Errorf("%w: it does not become quiet: %s", errAstray, o.atWork())
		}
		if o.changes(rushed) {
			still, since = 0, time.Now()
			continue
		}
		switch now := o.moved() + at; {
		case now != last || o.e.threads.busy(o.e.others()):
			last, still, since = now, 0, time.Now()
		case idle():
			still++
		}
		calm := still >= looks && !rushed || time.Since(since) >= enoughOf(rushed)
		if calm && time.Since(started) >= least {
			return nil
		}
	}
}

// changes waits for a look, and reports whether something has happened. For who is on the way it is there
// as soon as he has come.
func (o *order) changes(rushed bool) bool {
	if rushed {
		select {
		case <-o.changed:
			return true
		case <-time.After(look):
			return false
		}
	}
	nap(look)
	select {
	case <-o.changed:
		return true
	default:
		return false
	}
}

var goroutines = []string{"/sched/goroutines/runnable:goroutines", "/sched/goroutines/running:goroutines"}

// idle reports whether no goroutine of this process runs but the one that asks.
func idle() bool {
	s := make([]metrics.Sample, len(goroutines))
	for i := range s {
		s[i].Name = goroutines[i]
	}
	metrics.Read(s)
	return s[0].Value.Uint64() == 0 && s[1].Value.Uint64() <= 1
}
