package memory

import (
	"maps"
	"math"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestSystem: the tightest of the machine and of all control groups that the process
// is in; what can't be read, or is no number, limits nothing.
func TestSystem(t *testing.T) {
	machine := map[string]string{"proc/meminfo": "MemTotal:  9000 kB\nMemAvailable:    4000 kB\nCached: 1 kB\n"}
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"the machine's":      {nil, 4000 << 10},
		"a container's own":  {map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "3000000\n", "sys/fs/cgroup/memory.current": "1000000\n"}, 2000000},
		"without a limit":    {map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max\n", "sys/fs/cgroup/memory.current": "1000000\n"}, 4000 << 10},
		"more than there is": {map[string]string{"sys/fs/cgroup/memory.max": "90000000\n", "sys/fs/cgroup/memory.current": "1\n"}, 4000 << 10},
		"a service's": {map[string]string{"proc/self/cgroup": "1:name=x:/y\n0::/a.slice/b.service\n",
			"sys/fs/cgroup/a.slice/b.service/memory.max": "70000\n", "sys/fs/cgroup/a.slice/b.service/memory.current": "20000\n"}, 50000},
		"that of a group above it": {map[string]string{"proc/self/cgroup": "0::/a.slice/b.service\n",
			"sys/fs/cgroup/a.slice/memory.max": "70000\n", "sys/fs/cgroup/a.slice/memory.current": "30000\n",
			"sys/fs/cgroup/a.slice/b.service/memory.max": "max\n", "sys/fs/cgroup/a.slice/b.service/memory.current": "20000\n"}, 40000},
		"of a group outside of what is seen": {map[string]string{"proc/self/cgroup": "0::/../other\n", "sys/fs/cgroup/memory.max": "70000\n",
			"sys/fs/cgroup/memory.current": "10000\n"}, 60000},
	} {
		root := t.TempDir()
		files := maps.Clone(machine)
		maps.Copy(files, c.files)
		for path, text := range files {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(root, path)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(root, path), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := system(root); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	if got := system(t.TempDir()); got != math.MaxInt64 {
		t.Errorf("a machine that says nothing has %d left", got)
	}
}

// TestAddressSpace: ulimit -v counts what is mapped already.
func TestAddressSpace(t *testing.T) {
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &old); err != nil {
		t.Fatal(err)
	}
	const before, room = 1 << 40, 1 << 30 // a process of Go maps far less than the first
	limit := old
	limit.Cur = min(before, old.Max)
	if err := syscall.Setrlimit(syscall.RLIMIT_AS, &limit); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Setrlimit(syscall.RLIMIT_AS, &old) }()
	mapped := int64(limit.Cur) - addressSpace()
	if mapped < 1<<20 {
		t.Fatalf("this process maps %d bytes", mapped)
	}
	limit.Cur = uint64(mapped) + room
	if err := syscall.Setrlimit(syscall.RLIMIT_AS, &limit); err != nil {
		t.Fatal(err)
	}
	if got := Available(); got <= 0 || got > room {
		t.Errorf("of %d bytes %d are left", room, got)
	}
}
