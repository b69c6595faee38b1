package run

import "context"

// meanwhile does something that goes on until the fault is healed. What it returns ends it,
// waits until it has ended, and says what failed.
func meanwhile(ctx context.Context, do func(context.Context) error) (stop func(context.Context) error) {
	doing, end := context.WithCancel(context.WithoutCancel(ctx)) // the injection ends before the fault does
	done := make(chan error, 1)
	go func() { done <- do(doing) }()
	return func(ctx context.Context) error {
		end()
		select {
		case err := <-done:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
