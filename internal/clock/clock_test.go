package clock

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
)

// asMover makes the test's program move its own clocks instead of testing.
const asMover = "LOCKBENCH_TEST_MOVE_CLOCK"

// movers are what it may do then.
var movers = map[string]func() int{"1": move}

func TestMain(m *testing.M) {
	if child := movers[os.Getenv(asMover)]; child != nil {
		os.Exit(child())
	}
	os.Exit(m.Run())
}

// TestMove moves the clocks of a process of its own: nothing else may see it.
func TestMove(t *testing.T) { inChild(t, "1") }

// inChild has a process of its own do one of movers.
func inChild(t *testing.T, mover string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asMover+"="+mover)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

func move() int {
	var host lb.HostClock
	for _, step := range []struct {
		ahead time.Duration
		rate  float64
	}{{10 * time.Second, 0}, {-10 * time.Second, 0}, {0, 0}, {0, -0.5}, {0, 1}, {0, 0}} {
		if err := Move(step.ahead, step.rate); err != nil {
			println(err.Error())
			return 1
		}
		if d := (Ahead() - step.ahead).Abs(); d > 50*time.Millisecond {
			println("the wall clock is wrong by", d.String(), "after", step.ahead.String())
			return 1
		}
		// A sleep by the host's clock, and what that clock and the bench's say of it. A busy machine
		// can wake it late, now and then.
		const nap = 200 * time.Millisecond
		want := time.Duration(float64(nap) / (1 + step.rate))
		for try := 1; ; try++ {
			start, read := Now(), host.Mono()
			if err := host.Sleep(context.Background(), nap); err != nil {
				return 1
			}
			slept, took := host.Mono().Sub(read), Now().Sub(start)
			if slept < nap || took < want-5*time.Millisecond || try == 10 {
				println("at rate", int(step.rate*100), "% a sleep of 200ms took", took.String(), "and", slept.String(), "by its own clock")
				return 1
			}
			if took <= max(want, nap)+50*time.Millisecond { // a fast clock wakes nobody sooner
				break
			}
		}
		if d := True(host.Mono()).Sub(Now()).Abs(); d > 20*time.Millisecond {
			println("True is wrong by", d.String())
			return 1
		}
	}
	return 0
}

func BenchmarkNow(b *testing.B) {
	for b.Loop() {
		Now()
	}
}
