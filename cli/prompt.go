package cli

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
)

// promptly does work that does not look at ctx everywhere (it reads, computes, draws),
// and leaves it behind when ctx ends.
func promptly(ctx context.Context, work func() error) error {
	done := make(chan error, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil { // [Main] can't: this is another goroutine
				done <- exit{exitInternal, fmt.Errorf("internal error: %v\n%s", r, debug.Stack())}
			}
		}()
		done <- work()
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// saveMemory makes the heap grow less beyond what is in use: histories are large and
// live long. A user who has set that is not overruled.
func saveMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(30)
	}
}
