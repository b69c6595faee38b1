package checker

import (
	"bytes"
	"math"
	"os"
	"strconv"
)

// available is the memory that can still be had, in bytes: of the machine, and of
// the control group where this process is confined to one.
func available() int64 {
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
	return free
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
