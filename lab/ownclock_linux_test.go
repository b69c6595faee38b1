package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lockbench/lockbench/internal/testkit"
)

// timeVerb has the test's program ask hosts of a lab of its own what time it is there, and tellVerb tells it.
const (
	timeVerb = "ask-the-time"
	tellVerb = "tell-the-time"
)

const ahead = time.Hour - 7

// times are what a clock showed, and before and after what that of this process did; by how much the kernel says that the
// one is ahead.
type times struct {
	Before, Shown, After time.Duration
	Offsets              string
}

// TestOwnClock: what runs on a host with a clock of its own reads that, and nobody else does.
func TestOwnClock(t *testing.T) {
	t.Parallel()
	testkit.Need(t, "hosts with clocks of their own", Local().Can(OwnClocks))
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, timeVerb)
	Isolate(cmd)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, &stderr)
	}
	var told map[string]times
	if err := json.Unmarshal(out, &told); err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]time.Duration{"own": ahead, "twin": ahead, "usual": 0} {
		at := told[host]
		if at.Shown < at.Before+want || at.Shown > at.After+want {
			t.Errorf("%s: %+v, want it to be %v ahead", host, at, want)
		}
		var ns, s int64
		if _, err := fmt.Sscanf(at.Offsets, "monotonic %d %d", &s, &ns); err != nil || time.Duration(s*1e9+ns) != want {
			t.Errorf("%s: the kernel has %q, want %v (%v)", host, at.Offsets, want, err)
		}
	}
}

func askTime() (told map[string]times, err error) {
	l, err := openLocal()
	if err != nil {
		return nil, err
	}
	defer l.Close()
	own, errOwn := l.Host(context.Background(), "own", "")
	usual, errUsual := l.Host(context.Background(), "usual", "")
	if err := errors.Join(errOwn, errUsual); err != nil {
		return nil, err
	}
	if err := own.(Timed).OwnClock(ahead); err != nil {
		return nil, err
	}
	told = map[string]times{}
	for _, ask := range []struct {
		name string
		host Host
	}{{"own", own}, {"twin", own}, {"usual", usual}} {
		out, err := os.CreateTemp(scratch, "")
		if err != nil {
			return nil, err
		}
		defer out.Close()
		before := monotonic()
		p, err := ask.host.Start(context.Background(), Program{Argv: []string{Self, tellVerb}, Stdout: out, Log: os.Stderr})
		if err == nil {
			err = p.Wait()
		}
		if err != nil {
			return nil, err
		}
		text, err := os.ReadFile(out.Name())
		if err != nil {
			return nil, err
		}
		at := times{Before: before, After: monotonic()}
		shown, offsets, _ := strings.Cut(string(text), " ")
		if _, err := fmt.Sscan(shown, (*int64)(&at.Shown)); err != nil {
			return nil, err
		}
		at.Offsets = offsets
		told[ask.name] = at
	}
	return told, nil
}

// tellTime prints what the clock shows, and how the kernel has set it.
func tellTime() error {
	offsets, err := os.ReadFile("/proc/self/timens_offsets")
	_, e := fmt.Printf("%d %s", monotonic(), offsets)
	return errors.Join(err, e)
}

func monotonic() time.Duration {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	return time.Duration(ts.Nano())
}
