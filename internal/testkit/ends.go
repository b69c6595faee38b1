package testkit

import (
	"testing"
	"time"
)

// Ends wants that what was told to stop does so, within 20 s and without an error.
func Ends(t *testing.T, ended <-chan error) {
	t.Helper()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("stopped: %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("it does not end with its context")
	}
}
