package conform

import (
	"cmp"
	"time"
)

// times are how long things take in checks, and how long they may take.
type times struct {
	// prompt is how long something may take that needs no waiting, on a machine
	// that is busy with other tests.
	prompt time.Duration
	// willing is how long a client of a dead server waits.
	willing time.Duration
	// grace is how long after the end of its context a call may still return: a lock may
	// clean up for as long as a lease of 2 s, and a driver's own timeout of 5 s must not pass for that.
	grace time.Duration
	// settled is how long a request that has passed may take to be on the wire.
	settled time.Duration
	// moment is long enough for a client to show what it does while it waits.
	moment time.Duration
	// lasting is the TTL of checks in which no lease should end.
	lasting time.Duration
	// whole bounds one check, deviant with four TTL one that is said to fail: what hangs need not
	// be waited for as long as what is to pass.
	whole, deviant time.Duration
	// asks is how often a client asks, in all, whose lock gives a request up by itself.
	asks int
}

// timesOf are the usual ones, as often as patience says.
func timesOf(patience float64, ttl time.Duration) times {
	often := func(d time.Duration) time.Duration { return time.Duration(float64(d) * cmp.Or(patience, 1)) }
	return times{
		prompt:  often(5 * time.Second),
		willing: often(time.Second),
		grace:   often(min(ttl, 2*time.Second) + time.Second),
		settled: often(time.Second),
		moment:  often(300 * time.Millisecond),
		lasting: often(10 * time.Second),
		whole:   often(45 * time.Second),
		deviant: often(8 * time.Second),
		asks:    1,
	}
}

// expiry is how long after its end a server may still keep a lease: one that counts whole seconds keeps it for up to two more.
const expiry = 3 * time.Second
