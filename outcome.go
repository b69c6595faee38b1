package lockbench

import (
	"context"
	"errors"
)

// OutcomeOf translates the error of Acquire or Release into the result that is
// recorded. A nil error is OK; ErrHeld, ErrNoEffect and ErrUnsupported are Fail;
// ErrLost is Lost; everything else, an ended context included, is Unknown.
func OutcomeOf(err error) Result {
	switch {
	case err == nil:
		return OK
	case errors.Is(err, ErrHeld), errors.Is(err, ErrNoEffect), errors.Is(err, ErrUnsupported):
		return Fail
	case errors.Is(err, ErrLost):
		return Lost
	}
	return Unknown
}

// GaveUp reports whether err is only the end of a context: the client stopped
// waiting, the lock service did not fail.
func GaveUp(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
