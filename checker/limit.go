package checker

import (
	"context"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/internal/memory"
)

// DefaultLimit is the time that a layer has if [Options] give none. A million
// operations need a second.
const DefaultLimit = time.Minute

// guard runs one layer within the limits and turns whatever goes wrong into a
// result: the failure of a checker is something to be told, not a reason to lose
// the other layers.
func guard(ctx context.Context, o Options, l layer, r *run) Layer {
	if err := o.room(l.name, l.need(len(r.Acqs), len(r.Accesses))); err != nil {
		return undecided(l.name, err.Error())
	}
	// A layer that has been given up may still be running: it leaves its
	// measurements in a run of its own.
	own := *r
	out, err := bounded(ctx, o.limit(), func() Layer { return l.judge(&own) })
	if err != nil {
		return undecided(l.name, err.Error())
	}
	r.copies, r.outage, r.outageTold = own.copies, own.outage, own.outageTold
	out.Name = l.name
	for i := range out.Findings {
		f := &out.Findings[i]
		f.Layer = l.name
		f.Sentence += r.faultsDuring(span{From: f.From, To: f.At})
	}
	return out
}

func (o Options) limit() time.Duration {
	if o.Limit > 0 {
		return o.Limit
	}
	return DefaultLimit
}

// bounded waits for f no longer than the limit, or ctx. A panic of f is an error. A
// function that is given up goes on in the background: nothing can stop it.
func bounded[T any](ctx context.Context, limit time.Duration, f func() T) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		var res result
		defer func() {
			if p := recover(); p != nil {
				res.err = fmt.Errorf("the checker itself failed: %v", p)
			}
			done <- res
		}()
		res.value = f()
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case res := <-done:
		return res.value, res.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	case <-timer.C:
		var none T
		return none, fmt.Errorf("it did not come to an end within %v", limit)
	}
}

// small is what is never worth asking for, in bytes.
const small = 64 << 20

// room reports whether so many bytes can be had. It is asked before they are
// needed: afterwards the kernel ends the whole process.
func (o Options) room(what string, bytes int64) error {
	have := o.Memory
	if have <= 0 {
		if bytes < small {
			return nil
		}
		have = memory.Available()
	}
	if bytes > have {
		return fmt.Errorf("too little memory: the %s checker needs about %d MB here and may use %d MB", what, bytes>>20, max(0, have)>>20)
	}
	return nil
}
