package processes

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const stopSignal, continueSignal = unix.SIGSTOP, unix.SIGCONT

// The states of proc(5) that matter here.
const (
	stopped byte = 'T'
	ended   byte = 'Z'
)

// Adopt makes this process the parent of those below it that lose theirs. It is for a process
// that only programs are below: who adopts must bury, too, and a container can't end before
// all who died in it are buried.
func Adopt() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("adopt what processes leave: %w", err)
	}
	return nil
}

// Of returns the processes that descend from pid, parents before their children.
func Of(pid int) ([]int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	children := map[int][]int{}
	for _, e := range entries {
		one, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if _, parent, err := stat(one); err == nil {
			children[parent] = append(children[parent], one)
		}
	}
	below := append([]int(nil), children[pid]...)
	for i := 0; i < len(below); i++ {
		below = append(below, children[below[i]]...)
	}
	return below, nil
}

// Has counts the threads and the open files of all processes that descend from pid. Who ends meanwhile
// has none.
func Has(pid int) (threads, files int) {
	all, _ := Of(pid)
	for _, one := range all {
		of := filepath.Join("/proc", strconv.Itoa(one))
		task, _ := os.ReadDir(filepath.Join(of, "task"))
		open, _ := os.ReadDir(filepath.Join(of, "fd"))
		threads, files = threads+len(task), files+len(open)
	}
	return threads, files
}

func stateOf(pid int) (byte, error) {
	state, _, err := stat(pid)
	return state, err
}

// Began is when a process was begun, to the second: field 22 of its stat, in ticks of the kernel's clock for users since
// the machine was.
func Began(pid int) (time.Time, error) {
	const ticks = 100 // a second, on every machine that Go knows
	fields, err := statFields(pid)
	if err != nil {
		return time.Time{}, err
	}
	const begun = 22 - 3
	if len(fields) <= begun {
		return time.Time{}, fmt.Errorf("/proc/%d/stat ends before it says when the process began", pid)
	}
	n, err := strconv.ParseInt(string(fields[begun]), 10, 64)
	if err != nil {
		return time.Time{}, err
	}
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		return time.Time{}, err
	}
	return time.Now().Add(time.Duration(n)*time.Second/ticks - time.Duration(now.Nano())), nil
}

// stat reads /proc/PID/stat: PID (NAME) STATE PARENT …, where the name may contain anything.
func stat(pid int) (state byte, parent int, err error) {
	fields, err := statFields(pid)
	if err != nil {
		return 0, 0, err
	}
	parent, err = strconv.Atoi(string(fields[1]))
	return fields[0][0], parent, err
}

// statFields are the third and those after it.
func statFields(pid int) ([][]byte, error) {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return nil, err
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 2 {
		return nil, fmt.Errorf("/proc/%d/stat is %q", pid, text)
	}
	return fields, nil
}

func marked(pid int, variable string) bool {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	return err == nil && slices.Contains(strings.Split(string(text), "\x00"), variable)
}

// ranFor is how long the threads of a process have run, 0 where nobody knows: schedstat
// begins with the time on a processor, in nanoseconds.
func ranFor(pid int) (sum time.Duration) {
	files, _ := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task/*/schedstat"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		first, _, _ := bytes.Cut(text, []byte(" "))
		ns, _ := strconv.ParseInt(string(first), 10, 64)
		sum += time.Duration(ns)
	}
	return sum
}
