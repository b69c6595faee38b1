package peers

import "context"

// locking is a call of a library's Lock, which takes no context and goes on by itself.
type locking struct {
	done chan struct{} // closed at its end
	err  error         // its error
}

// await waits for its end.
func (l *locking) await(ctx context.Context) error {
	select {
	case <-l.done:
		return l.err
	case <-ctx.Done():
		return ctx.Err()
	}
}
