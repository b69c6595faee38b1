package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// available are the cores that this process may use.
func available() (cores []int) {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return nil
	}
	for i := range len(set) * strconv.IntSize {
		if set.IsSet(i) {
			cores = append(cores, i)
		}
	}
	return cores
}

// halves are two halves of the cores. Threads of one core stay together, as far as there are two cores.
func halves(all []int) (one, other []int) {
	siblings := func(n int) string {
		text, _ := os.ReadFile(fmt.Sprintf("/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", n))
		return string(text) // "" where nobody knows
	}
	together := slices.Clone(all)
	slices.SortStableFunc(together, func(a, b int) int { return strings.Compare(siblings(a), siblings(b)) })
	half := len(together) / 2
	for i := half; i > 0 && siblings(together[i-1]) != ""; i-- {
		if siblings(together[i-1]) != siblings(together[i]) {
			half = i
			break
		}
	}
	one, other = slices.Sorted(slices.Values(together[:half])), slices.Sorted(slices.Values(together[half:]))
	return one, other
}

// confine has this process run on these cores, with all threads that it has and all that these begin.
func confine(cores []int) error {
	var set unix.CPUSet
	for _, c := range cores {
		set.Set(c)
	}
	for range 3 { // one that began meanwhile may have begun from one that was not confined yet
		tasks, err := filepath.Glob("/proc/self/task/*")
		if err != nil {
			return err
		}
		for _, task := range tasks {
			tid, _ := strconv.Atoi(filepath.Base(task)) // the kernel writes numbers
			if err := unix.SchedSetaffinity(tid, &set); err != nil && !errors.Is(err, unix.ESRCH) {
				return fmt.Errorf("run on cores %v only: %w", cores, err)
			}
		}
	}
	return nil
}

// Awake keeps cores, numbers with commas between them, from sleeping until ctx ends, and says so. It is in no
// program's way: it runs where no other wants to.
func Awake(ctx context.Context, says io.Writer, list string) error {
	cores := strings.Split(list, ",")
	debug.SetGCPercent(-1) // whoever spins here is not to be waited for
	runtime.GOMAXPROCS(len(cores) + 1)
	began := make(chan error, len(cores))
	for _, core := range cores {
		n, err := strconv.Atoi(core)
		if err != nil {
			return err
		}
		go func() {
			runtime.LockOSThread()
			var set unix.CPUSet
			set.Set(n)
			err := unix.SchedSetaffinity(0, &set)
			if err == nil {
				err = unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE}, 0)
			}
			began <- err
			for spin := 0; err == nil && (spin%1_000_000 != 0 || ctx.Err() == nil); spin++ {
			}
		}()
	}
	for range cores {
		if err := <-began; err != nil {
			return fmt.Errorf("keep a core awake: %w", err)
		}
	}
	if _, err := fmt.Fprintln(says, awake); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}
