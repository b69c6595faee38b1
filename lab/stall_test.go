package lab

import (
	"errors"
	"testing"
)

// TestSlowDisk: calls wait from the stall to its end, and at no other time.
func TestSlowDisk(t *testing.T) {
	s := &Server{host: paper{}, disk: &slowDisk{}}
	done := 0
	call := func() { s.disk.ask(func() { done++ }) }
	call()
	if done != 1 {
		t.Fatal("a disk that nobody stalls is waited for")
	}
	for stall := 1; stall < 3; stall++ {
		before := done
		end, err := s.StallDisk()
		if err != nil {
			t.Fatal(err)
		}
		call()
		call()
		if done != before {
			t.Errorf("stall %d: %d calls went on", stall, done-before)
		}
		if n := end(); n != 2 || done != before+2 {
			t.Errorf("stall %d: %d calls waited, %d went on", stall, n, done-before)
		}
	}
	if _, err := (&Server{host: paper{}}).StallDisk(); !errors.Is(err, ErrNoStall) {
		t.Errorf("a server without such a disk: %v", err)
	}
}

// paper is a host that nothing runs on.
type paper struct{ Host }

func (paper) Name() string { return "h1" }
