package explore

import (
	"context"
	"fmt"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/foreign"
)

// follow lets the first order come to its end, and proves on the way that the clients' clocks follow the
// bench's where they are read for a lease. Else a lease that ends would be over for the bench and not for
// the client, or every grant after it would be over when it comes, and neither says anything of the lock.
func (x *exploration) follow(ctx context.Context, o *order) error {
	if min(x.Bounds.Faults, x.Bounds.Expiries) == 0 || x.ends == endsNothing || x.info.OwnClock || x.info.WallClock {
		return o.goOn(ctx)
	}
	if err := x.leap(lapse); err != nil { // before anybody has called
		return err
	}
	if x.info.Program {
		if err := x.asksClocks(ctx); err != nil {
			x.timeless = notFollowing + err.Error()
		}
	}
	err := o.goOn(ctx)
	if x.timeless == "" {
		if over := o.overAtOnce(); over != "" {
			x.timeless = notFollowing + over
		}
	}
	return err
}

const notFollowing = "the client's clock does not follow the bench's (--expiries 0 leaves these orders out): "

// asksClocks asks every program for its clocks.
func (x *exploration) asksClocks(ctx context.Context) error {
	const sure = time.Second
	wall, mono, err := foreign.Clocks(ctx)
	if want := x.time.ahead(); err == nil && max((wall-want).Abs(), (mono-want).Abs()) > sure {
		err = fmt.Errorf("its wall clock is %v ahead of the machine's, and its monotonic clock %v, where it should be %v", wall.Round(sure), mono.Round(sure), want.Round(sure))
	}
	return err
}

// overAtOnce says which grant was over when it came, "" for none.
func (o *order) overAtOnce() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, ev := range o.events {
		if ev.Kind == history.KindReturn && ev.Op == history.OpAcquire && ev.Result == lb.AnswerOK && ev.Until != 0 && ev.Until <= ev.At {
			return fmt.Sprintf("%s was granted the lock until a time that was over", ev.Client)
		}
	}
	return ""
}
