package memory

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

func left() int64 { return min(system("/"), addressSpace()) }

// system is what the machine whose files are below root has left for this process.
func system(root string) int64 {
	free := int64(math.MaxInt64)
	if text, err := os.ReadFile(filepath.Join(root, "proc/meminfo")); err == nil {
		if _, rest, ok := bytes.Cut(text, []byte("MemAvailable:")); ok {
			if kb, ok := number(bytes.Fields(rest)[0]); ok {
				free = kb << 10
			}
		}
	}
	// The group's own limit, and those of all groups that it is in.
	groups := filepath.Join(root, "sys/fs/cgroup")
	for dir := filepath.Join(groups, group(root)); len(dir) >= len(groups); dir = filepath.Dir(dir) {
		limit, okLimit := numberIn(filepath.Join(dir, "memory.max"))
		used, okUsed := numberIn(filepath.Join(dir, "memory.current"))
		if okLimit && okUsed {
			free = min(free, limit-used)
		}
	}
	return free
}

// group is the path of this process's control group: "/" in a container that sees
// nothing above its own.
func group(root string) string {
	text, _ := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	for line := range strings.Lines(string(text)) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			return filepath.Join("/", path) // never above the mounted one
		}
	}
	return "/"
}

// addressSpace is what ulimit -v leaves: counted is what is mapped, used or not.
func addressSpace() int64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_AS, &limit) != nil || limit.Cur > math.MaxInt64 {
		return math.MaxInt64
	}
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return math.MaxInt64
	}
	pages, ok := number(bytes.Fields(text)[0])
	if !ok {
		return math.MaxInt64
	}
	return int64(limit.Cur) - pages*int64(os.Getpagesize())
}

func numberIn(path string) (int64, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	return number(bytes.TrimSpace(text))
}

func number(text []byte) (int64, bool) {
	n, err := strconv.ParseInt(string(text), 10, 64)
	return n, err == nil
}
