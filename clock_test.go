package lockbench

import (
	"testing"
	"time"
)

func TestNowAdvancesWithTime(t *testing.T) {
	a, start := HostClock{}.Mono(), time.Now()
	time.Sleep(5 * time.Millisecond)
	d, want := HostClock{}.Mono().Sub(a), time.Since(start)
	if d < 5*time.Millisecond || d > want {
		t.Fatalf("Now advanced by %v while %v passed", d, want)
	}
}

func BenchmarkNow(b *testing.B) {
	for b.Loop() {
		HostClock{}.Mono()
	}
}
