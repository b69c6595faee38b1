package explore

import (
	"sync/atomic"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/clock"
)

// virtual is the time of all orders: the machine's, and what the scheduler has let pass.
type virtual struct{ leapt atomic.Int64 }

func (v *virtual) ahead() time.Duration { return time.Duration(v.leapt.Load()) }
func (v *virtual) now() lb.Instant      { return clock.Now().Add(v.ahead()) }
