package testkit

import (
	"errors"
	"os"
	"os/exec"
	"testing"
)

// On a developer's machine a test that lacks something is skipped, with the reason and the
// remedy. In CI it fails: there a skipped test is one that nobody misses until the thing that it
// guards has broken.

// Need returns if err is nil: what the test needs is there. Otherwise the test
// is skipped, or fails where the environment variable CI is set and neither
// empty nor "false". err should say how to get what is missing.
func Need(t testing.TB, what string, err error) {
	t.Helper()
	ci := os.Getenv("CI")
	switch {
	case err == nil:
	case ci == "" || ci == "false":
		t.Skipf("this test needs %s: %v", what, err)
	default:
		t.Fatalf("this test needs %s, and in CI no test may skip: %v", what, err)
	}
}

// Browser is the program of a browser that can be driven without a screen.
func Browser() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("none of chromium and google-chrome is on PATH: make browser installs one")
}
