package lockbench

import (
	"context"
	"errors"
)

// Answer is how an operation ended, as far as its client can know.
type Answer uint8

// The answers. Ambiguity is data: AnswerUnknown is never read as one of the others.
const (
	AnswerOK       Answer = iota
	AnswerFailed          // certainly had no effect
	AnswerUnknown         // may have happened, may still happen
	AnswerLost            // release: this acquisition did not hold the lock
	AnswerReleased        // release: it does not hold the lock now; whether it did until now is not known
)

// Answers are the names of the answers, in their order, as histories have them.
var Answers = [...]string{"ok", "fail", "unknown", "lost", "released"}

func (a Answer) String() string { return Answers[a] }

// AnswerOf translates the error of Acquire or Release. Without an error it is
// AnswerOK; ErrHeld, ErrNoEffect and ErrUnsupported are AnswerFailed; ErrLost and
// ErrReleased have answers of their own; everything else, an ended context included,
// is AnswerUnknown.
func AnswerOf(err error) Answer {
	switch {
	case err == nil:
		return AnswerOK
	case errors.Is(err, ErrHeld), errors.Is(err, ErrNoEffect), errors.Is(err, ErrUnsupported):
		return AnswerFailed
	case errors.Is(err, ErrLost):
		return AnswerLost
	case errors.Is(err, ErrReleased):
		return AnswerReleased
	}
	return AnswerUnknown
}

// GaveUp reports whether err is only the end of a context: the client stopped
// waiting, the lock service did not fail.
func GaveUp(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// Refused reports whether err is an answer of the lock's: it is held, is not held, or has no
// such mode.
func Refused(err error) bool {
	for _, answer := range []error{ErrHeld, ErrLost, ErrReleased, ErrUnsupported} {
		if errors.Is(err, answer) {
			return true
		}
	}
	return false
}
