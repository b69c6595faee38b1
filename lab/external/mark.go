package external

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/lockbench/lockbench/internal/processes"
)

// newMark is what servers are marked with while this process uses them: for people, and for [goesOn].
func newMark() string { return markOf(os.Getpid(), time.Now()) }

func markOf(pid int, since time.Time) string {
	host, _ := os.Hostname()
	return fmt.Sprintf("process %d on %s, since %s, %s", pid, cmp.Or(host, "?"), since.UTC().Format(time.DateTime), rand.Text()[:8])
}

// goesOn reports whether a mark is that of another process of this machine that goes on. What goes on elsewhere only people
// know, and a process that began after the mark was made has only the number of one that ended.
func goesOn(mark string) bool {
	var pid int
	if n, _ := fmt.Sscanf(mark, "process %d on", &pid); n != 1 || pid == os.Getpid() || !processes.Runs(pid) {
		return false
	}
	host, err := os.Hostname()
	_, rest, ours := strings.Cut(mark, fmt.Sprintf(" on %s, since ", host))
	if err != nil || !ours || len(rest) < len(time.DateTime) {
		return false
	}
	since, err := time.Parse(time.DateTime, rest[:len(time.DateTime)])
	if err != nil {
		return false
	}
	const exact = 2 * time.Second
	began, err := processes.Began(pid)
	return err != nil || !began.After(since.Add(exact))
}
