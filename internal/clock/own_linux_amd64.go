package clock

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	lb "github.com/lockbench/lockbench"
)

// A Go program asks the kernel's own library for the time (the vDSO), which no
// preloaded one can replace. It keeps the address of that library's clock_gettime in a
// variable of its runtime, whose value becomes the address of ours. To write a jump over the library's
// code instead would crash a thread that is just there.

// gettime is in assembly, and is never called from Go.
//
//lint:ignore U1000 its address is what gettimeAddr returns
func gettime()

// gettimeAddr is the address of gettime.
func gettimeAddr() uintptr

// apart is the address of the table that gettime adds from: see clocks. A new table is
// shown by a new address, so that no reader sees half of it.
var apart uintptr

// keep keeps what apart points to, of which the garbage collector does not know.
var keep []*clocks

func show(c *clocks) {
	keep = append(keep, c)
	atomic.StoreUintptr(&apart, uintptr(unsafe.Pointer(c)))
}

// Follow gives this process the wall clock that a file says: offset in ns, since when
// it drifts, drift in parts per billion, 64 bits each.
func Follow(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	mapped, err := unix.Mmap(int(f.Fd()), 0, int(unsafe.Sizeof(clocks{})), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("map %s: %w", path, err)
	}
	atomic.StoreUintptr(&apart, uintptr(unsafe.Pointer(&mapped[0])))
	return divert()
}

// own lets gettime answer this process, with the machine's clocks at first.
func own() error {
	show(&clocks{})
	return divert()
}

var divert = sync.OnceValue(func() error {
	memory, err := os.Open("/proc/self/mem")
	if err != nil {
		return err
	}
	defer memory.Close()
	entry, err := vdsoEntry(memory, "__vdso_clock_gettime")
	if err != nil {
		return err
	}
	all, err := variables(memory, uint64(entry))
	if err != nil {
		return err
	}
	if len(all) != 1 {
		return fmt.Errorf("the runtime's address of clock_gettime was looked for, and found at %d places", len(all))
	}
	atomic.StoreUintptr(*(**uintptr)(unsafe.Pointer(&all[0])), gettimeAddr())
	return nil
})

// variables are the addresses in this program's own data, of words, that hold a value.
func variables(memory *os.File, value uint64) (all []uintptr, err error) {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return nil, err
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return nil, err
	}
	var end uint64 // of the program's parts so far: what it has no initial value for follows without a name
	for line := range strings.Lines(string(maps)) {
		var from, to uint64
		var may string
		if _, err := fmt.Sscanf(line, "%x-%x %s", &from, &to, &may); err != nil {
			return nil, fmt.Errorf("read /proc/self/maps: %w", err)
		}
		name := ""
		if i := strings.IndexAny(line, "/["); i >= 0 {
			name = strings.TrimSpace(line[i:])
		}
		if name != program && (name != "" || from != end) {
			continue
		}
		end = to
		if !strings.HasPrefix(may, "rw") {
			continue
		}
		part := make([]byte, to-from)
		if _, err := memory.ReadAt(part, int64(from)); err != nil {
			return nil, fmt.Errorf("read the program's data: %w", err)
		}
		for i := 0; i+8 <= len(part); i += 8 {
			if binary.LittleEndian.Uint64(part[i:]) == value {
				all = append(all, uintptr(from)+uintptr(i))
			}
		}
	}
	return all, nil
}

// monotonic and wall ask the kernel, not its library.
func monotonic() lb.Instant { return lb.Instant(ask(unix.CLOCK_MONOTONIC)) }
func wall() time.Time       { return time.Unix(0, ask(unix.CLOCK_REALTIME)) }

func ask(id uintptr) int64 {
	var ts unix.Timespec
	_, _, _ = unix.RawSyscall(unix.SYS_CLOCK_GETTIME, id, uintptr(unsafe.Pointer(&ts)), 0)
	return ts.Nano()
}

// vdsoEntry is the address of a function of the vDSO.
func vdsoEntry(memory *os.File, name string) (int64, error) {
	auxv, err := os.ReadFile("/proc/self/auxv")
	if err != nil {
		return 0, err
	}
	const sysinfoEHDR = 33
	for ; len(auxv) >= 16; auxv = auxv[16:] {
		if binary.LittleEndian.Uint64(auxv) != sysinfoEHDR {
			continue
		}
		base := int64(binary.LittleEndian.Uint64(auxv[8:]))
		image := make([]byte, 2*os.Getpagesize())
		n, err := memory.ReadAt(image, base)
		if n < os.Getpagesize() {
			return 0, fmt.Errorf("read the vDSO: %w", err)
		}
		library, err := elf.NewFile(bytes.NewReader(image[:n]))
		if err != nil {
			return 0, fmt.Errorf("read the vDSO: %w", err)
		}
		symbols, err := library.DynamicSymbols()
		if err != nil {
			return 0, fmt.Errorf("read the vDSO: %w", err)
		}
		for _, s := range symbols {
			if s.Name == name {
				return base + int64(s.Value), nil
			}
		}
	}
	return 0, errors.New("this kernel has no " + name)
}
