package testkit

import (
	"errors"
	"fmt"
	"testing"
)

// recorder is a testing.TB that notes what it was told instead of ending.
type recorder struct {
	testing.TB
	said string
}

func (r *recorder) Helper()                   {}
func (r *recorder) Skipf(f string, a ...any)  { r.said = "skip: " + fmt.Sprintf(f, a...) }
func (r *recorder) Fatalf(f string, a ...any) { r.said = "fatal: " + fmt.Sprintf(f, a...) }

func TestNeed(t *testing.T) {
	missing := errors.New("no engine; install one")
	for _, tc := range []struct {
		ci   string
		err  error
		want string
	}{
		{"", nil, ""},
		{"true", nil, ""},
		{"", missing, "skip: this test needs Docker: no engine; install one"},
		{"false", missing, "skip: this test needs Docker: no engine; install one"},
		{"1", missing, "fatal: this test needs Docker, and in CI no test may skip: no engine; install one"},
		{"true", missing, "fatal: this test needs Docker, and in CI no test may skip: no engine; install one"},
	} {
		t.Setenv("CI", tc.ci)
		r := &recorder{TB: t}
		Need(r, "Docker", tc.err)
		if r.said != tc.want {
			t.Errorf("CI=%q, err=%v: said %q, want %q", tc.ci, tc.err, r.said, tc.want)
		}
	}
}
