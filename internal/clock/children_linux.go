package clock

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// page is the file that children have mapped; clock.c says how it is read.
type page struct {
	pairs   [2]clocks
	version uint64
}

// children is the page of this process's children, nil before the first may be started.
var children *page

// tell shows the children what the clocks are from now on. moving is held.
func tell(c *clocks) {
	if children == nil {
		return
	}
	next := children.version + 1
	children.pairs[next&1] = *c
	atomic.StoreUint64(&children.version, next)
}

// ForChildren is the environment with which a child of this process, and all that it starts,
// follows the clocks of this process, now and after every later [Move]: what is linked
// dynamically and runs as this process's user. Their clocks are in the memory of this
// process, so that nothing is left behind when it is killed; who starts a program then has
// the machine's time.
func ForChildren() (env []string, err error) {
	file, err := shared()
	if err != nil {
		return nil, err
	}
	preloaded := file.library
	if others := os.Getenv(PreloadVar); others != "" {
		preloaded += ":" + others
	}
	return []string{PreloadVar + "=" + preloaded, FileVar + "=" + file.page}, nil
}

// files are paths by which others reach what only this process has.
type files struct{ library, page string }

var shared = sync.OnceValues(func() (f files, err error) {
	library, err := Library()
	if err != nil {
		return f, err
	}
	fd, err := memory("lockbench-clock.so", library)
	if err != nil {
		return f, err
	}
	if f.library, err = path(fd); err != nil {
		return f, err
	}
	if fd, err = memory("lockbench-clock", make([]byte, unsafe.Sizeof(page{}))); err != nil {
		return f, err
	}
	if f.page, err = path(fd); err != nil {
		return f, err
	}
	mapped, err := unix.Mmap(fd, 0, int(unsafe.Sizeof(page{})), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return f, fmt.Errorf("map the children's clock: %w", err)
	}
	moving.Lock()
	defer moving.Unlock()
	children = (*page)(unsafe.Pointer(&mapped[0]))
	if c := moved.Load(); c != nil {
		tell(c)
	} else if leapt != 0 {
		tell(leaping())
	}
	return f, nil
})

// memory is a file without a name. It stays open for as long as this process lives, and
// no child inherits it.
func memory(name string, content []byte) (fd int, err error) {
	if fd, err = unix.MemfdCreate(name, unix.MFD_CLOEXEC); err != nil {
		return 0, fmt.Errorf("the children's clock: make a file in memory: %w", err)
	}
	for len(content) > 0 {
		n, err := unix.Write(fd, content)
		if err != nil {
			return 0, fmt.Errorf("the children's clock: write to memory: %w", err)
		}
		content = content[n:]
	}
	return fd, nil
}

// path is where other processes find a file of this one. /proc knows the number that this
// process has there, whatever namespaces it is in.
func path(fd int) (string, error) {
	self, err := os.Readlink("/proc/self")
	if err != nil {
		return "", fmt.Errorf("the children's clock: %w", err)
	}
	return fmt.Sprintf("/proc/%s/fd/%d", self, fd), nil
}
