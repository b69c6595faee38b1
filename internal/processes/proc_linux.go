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

// stat reads /proc/PID/stat: PID (NAME) STATE PARENT …, where the name may contain anything.
func stat(pid int) (state byte, parent int, err error) {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, 0, err
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 2 {
		return 0, 0, fmt.Errorf("/proc/%d/stat is %q", pid, text)
	}
	parent, err = strconv.Atoi(string(fields[1]))
	return fields[0][0], parent, err
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
