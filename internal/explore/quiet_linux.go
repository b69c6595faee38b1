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

// threads looks at those of processes. Its files stay open from look to look: a JVM has forty
// threads, and some thousand looks a second that open, read and close forty files each take more of
// the processor than what is looked at. The zero threads has none open yet.
type threads struct{ of map[int]*tasks }

// tasks are the threads of one process, as files that say how each is.
type tasks struct {
	links uint64 // of the directory: one more for each thread
	stats []*os.File
}

// busy reports whether a thread of one of the processes runs, or waits for a processor or a disk, or
// one of this process beside the one that asks: what has come for it is seen by a thread first.
func (t *threads) busy(pids []int) bool {
	return t.runs(os.Getpid()) > 1 || slices.ContainsFunc(pids, func(pid int) bool { return t.runs(pid) > 0 })
}

// runs counts the threads of a process that run, or would if they could.
func (t *threads) runs(pid int) (n int) {
	dir := fmt.Sprintf("/proc/%d/task", pid)
	var s syscall.Stat_t
	if err := syscall.Stat(dir, &s); err != nil {
		t.forget(pid) // it has ended
		return 0
	}
	p, links := t.of[pid], uint64(s.Nlink)
	if p == nil || p.links != links {
		p = t.open(pid, dir, links)
	}
	var line [512]byte
	for _, f := range p.stats {
		k, err := syscall.Pread(int(f.Fd()), line[:], 0)
		if err != nil { // it has ended, and there may be another
			p.links = 0
			continue
		}
		if i := bytes.LastIndexByte(line[:k], ')'); i >= 0 && i+2 < k && (line[i+2] == 'R' || line[i+2] == 'D') {
			n++
		}
	}
	return n
}

func (t *threads) open(pid int, dir string, links uint64) *tasks {
	t.forget(pid)
	p := &tasks{links: links}
	names, err := os.ReadDir(dir)
	if err != nil {
		return p // it has ended
	}
	for _, name := range names {
		if f, err := os.Open(filepath.Join(dir, name.Name(), "stat")); err == nil { // else the thread has ended
			p.stats = append(p.stats, f)
		}
	}
	if t.of == nil {
		t.of = map[int]*tasks{}
	}
	t.of[pid] = p
	return p
}

func (t *threads) forget(pid int) {
	if p := t.of[pid]; p != nil {
		for _, f := range p.stats {
			_ = f.Close()
		}
		delete(t.of, pid)
	}
}

// close forgets all processes.
func (t *threads) close() {
	for pid := range t.of {
		t.forget(pid)
	}
}
