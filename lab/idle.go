package lab

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/internal/english"
)

// Silence is that of the connections from a client's host to a server that closes those that say nothing for a second,
// [IdleLimit], and that does not count by host which it has closed.
type Silence interface {
	// Silent is for how long each connection from there has said nothing, by its number; 0 of one that is at work.
	Silent(context.Context) (map[int64]time.Duration, error)
	// Aborted is how many connections, anybody's, have ended without a word of their clients.
	Aborted(context.Context) (int, error)
}

// IdleLimit is how long a connection may be silent, [idleLooks] how often it is looked at, and [idleLate] how late a
// look may come.
const (
	IdleLimit = time.Second
	idleLooks = 50 * time.Millisecond
	idleLate  = 250 * time.Millisecond
)

// WatchIdle looks again and again at the connections from a host, as the server closes idle ones from now on. The
// effect's End says how many were closed, and calls restore in any case.
func WatchIdle(ctx context.Context, of Silence, host string, restore func(context.Context) error) (e Effect, err error) {
	set := time.Now()
	watch, err := watchIdle(ctx, of)
	if err != nil {
		return e, err
	}
	return Effect{Told: "closes idle connections", End: func(ctx context.Context) (e Effect, err error) {
		defer func() { err = errors.Join(err, restore(ctx)) }()
		if e.Count, err = watch.end(ctx); err != nil {
			return e, err
		}
		e.Told = fmt.Sprintf("closed %s from %s for being idle", english.Count(e.Count, "connection"), host)
		if n := len(watch.silent); e.Count == 0 && n > 0 && time.Since(set) >= IdleLimit+idleLooks {
			e.Told += fmt.Sprintf("; it has %d, of which the longest silence was %.1f s", n, watch.longest.Seconds())
			if e.Immune = watch.longest < IdleLimit && watch.missed == 0; e.Immune {
				e.Told += ": this can't strike such a lock"
			}
		}
		if watch.missed > 0 {
			e.Told += fmt.Sprintf("; %s it was not seen which were closed, since this machine was too busy, or the server did not answer", english.Count(watch.missed, "time"))
		}
		return e, err
	}}, nil
}

// idleWatch looks again and again at the connections from a host, since the server does not count by host which
// it has closed.
type idleWatch struct {
	of      Silence
	aborted int // connections, before
	closed  int
	silent  map[int64]time.Duration // by connection, when it was looked at last
	longest time.Duration           // of any
	looked  time.Time               // zero before the first look
	missed  int                     // looks that came too late, or did not come
	stop    func()
	ended   chan struct{}
}

func watchIdle(ctx context.Context, of Silence) (w *idleWatch, err error) {
	w = &idleWatch{of: of, ended: make(chan struct{})}
	if w.aborted, err = of.Aborted(ctx); err != nil {
		return nil, err
	}
	ctx, w.stop = context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer close(w.ended)
		for ctx.Err() == nil {
			if w.look(context.WithoutCancel(ctx)) != nil { // another that ends all connections ends this one's, too
				w.missed++
				w.looked = time.Time{}
			}
			select {
			case <-time.After(idleLooks):
			case <-ctx.Done():
			}
		}
	}()
	return w, nil
}

// look finds those that are gone since it looked last, and had been silent up to their limit by then.
func (w *idleWatch) look(ctx context.Context) error {
	silent, err := w.of.Silent(ctx)
	if err != nil {
		return err
	}
	now := time.Now()
	for _, d := range silent {
		w.longest = max(w.longest, d)
	}
	gap := now.Sub(w.looked)
	for id, d := range w.silent {
		_, there := silent[id]
		switch gone := !there && !w.looked.IsZero() && d > 0; {
		case gone && gap > idleLate && d+gap >= IdleLimit: // by the server or by its client, who knows
			w.missed++
		case gone && d+gap >= IdleLimit-idleLooks:
			w.closed++
		}
	}
	w.silent, w.looked = silent, now
	return nil
}

// end is how many it has seen closed, and no more than ended without a word of their clients, anybody's.
func (w *idleWatch) end(ctx context.Context) (closed int, err error) {
	w.stop()
	<-w.ended
	if err := w.look(ctx); err != nil {
		return 0, err
	}
	after, err := w.of.Aborted(ctx)
	return min(w.closed, after-w.aborted), err
}
