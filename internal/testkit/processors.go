package testkit

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Worked is the processor time that this process has had: what a test measures that is not alone
// on its machine.
func Worked(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// spent is processor time since the machine began, in ticks.
type spent struct{ idle, all float64 }

// processors reads what the processors did until now: the first line of /proc/stat, whose
// fourth and fifth figures are the time with nothing to do, and with nothing but input to wait
// for. The second is that of programs which give way to all others, as the compiler does in make
// test: to those it is as good as idle. A guest's time is in that of users already.
func processors() (spent, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return spent{}, fmt.Errorf("whether processors are idle: %w", err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(line)
	if len(fields) < 6 || fields[0] != "cpu" {
		return spent{}, fmt.Errorf("whether processors are idle: /proc/stat begins with %q", line)
	}
	var s spent
	for i, field := range fields[1:min(len(fields), 9)] {
		n, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return spent{}, fmt.Errorf("whether processors are idle: /proc/stat: %w", err)
		}
		s.all += n
		if i == 1 || i == 3 || i == 4 {
			s.idle += n
		}
	}
	return s, nil
}

// pressed is the share of the last ten seconds in which something that could run had to wait for a
// processor, as the kernel has it in /proc/pressure/cpu: 0 where a kernel has no such file. On a
// machine that is shared, its processors may be idle for a moment and be given to others in the next.
func pressed() float64 {
	text, err := os.ReadFile("/proc/pressure/cpu")
	if err != nil {
		return 0
	}
	return pressedIn(string(text))
}

func pressedIn(text string) float64 {
	_, after, _ := strings.Cut(text, "some avg10=")
	share, _, _ := strings.Cut(after, " ")
	percent, err := strconv.ParseFloat(share, 64)
	if err != nil {
		return 0
	}
	return percent / 100
}
