package faults

import (
	"testing"
	"time"

	"github.com/lockbench/lockbench/history"
)

// TestInTime: a leader that follows when all leases of the old one are over has taken nothing from anybody.
func TestInTime(t *testing.T) {
	const ttl = 4 * time.Second
	led := func(ok bool) Proof {
		return func() history.Proof { return history.Proof{Proven: ok, Measured: "r2 led"} }
	}
	for _, tt := range []struct {
		led          bool
		after, lease time.Duration
		proven       bool
	}{
		{true, ttl, ttl, true}, {true, ttl + 1, ttl, false}, {true, time.Hour, 0, true}, {false, time.Second, ttl, false},
	} {
		if got := inTime(led(tt.led), tt.after, tt.lease)(); got.Proven != tt.proven {
			t.Errorf("%+v: %+v", tt, got)
		}
	}
}

// TestOff: a clock that is behind is not ahead by less than nothing.
func TestOff(t *testing.T) {
	for ahead, want := range map[time.Duration]string{10 * time.Second: "10.000 s ahead", -1500 * time.Millisecond: "1.500 s behind"} {
		if got := off(ahead); got != want {
			t.Errorf("%v: %q, want %q", ahead, got, want)
		}
	}
}
