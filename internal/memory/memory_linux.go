package memory

import (
	"bytes"
	"math"
	"os"
	"strconv"
	"syscall"
)

func left() int64 {
	free := int64(math.MaxInt64)
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		if _, rest, ok := bytes.Cut(text, []byte("MemAvailable:")); ok {
			if kb, ok := number(bytes.Fields(rest)[0]); ok {
				free = kb << 10
			}
		}
	}
	limit, okLimit := numberIn("/sys/fs/cgroup/memory.max")
	used, okUsed := numberIn("/sys/fs/cgroup/memory.current")
	if okLimit && okUsed {
		free = min(free, limit-used)
	}
	return min(free, addressSpace())
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
