package explore

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// nap sleeps for less than a millisecond, as the timers of Go don't in a process that is idle.
func nap(d time.Duration) {
	t := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&t, nil)
}

// busy reports whether a thread of one of the processes runs, or waits for a processor or a disk, or
// one of this process beside the one that asks: what has come for it is seen by a thread first.
func busy(pids []int) bool {
	return runs(os.Getpid()) > 1 || slices.ContainsFunc(pids, func(pid int) bool { return runs(pid) > 0 })
}

// runs counts the threads of a process that run, or would if they could.
func runs(pid int) (n int) {
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return 0 // it has ended
	}
	for _, t := range tasks {
		text, err := os.ReadFile(filepath.Join("/proc", fmt.Sprint(pid), "task", t.Name(), "stat"))
		if err != nil {
			continue
		}
		if i := bytes.LastIndexByte(text, ')'); i >= 0 && i+2 < len(text) && (text[i+2] == 'R' || text[i+2] == 'D') {
			n++
		}
	}
	return n
}
