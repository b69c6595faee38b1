package clock

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	lb "github.com/lockbench/lockbench"
)

// A Go program asks the kernel's own library for the time (the vDSO), which no
// preloaded one can replace. So the entry of that library's clock_gettime becomes a
// jump to ours. Only this process sees it.

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
	return patch()
}

// own lets gettime answer this process, with the machine's clocks at first.
func own() error {
	show(&clocks{})
	return patch()
}

var patch = sync.OnceValue(func() error {
	memory, err := os.OpenFile("/proc/self/mem", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer memory.Close()
	entry, err := vdsoEntry(memory, "__vdso_clock_gettime")
	if err != nil {
		return err
	}
	jump := append([]byte{0x48, 0xb8}, binary.LittleEndian.AppendUint64(nil, uint64(gettimeAddr()))...) // mov rax, gettime
	jump = append(jump, 0xff, 0xe0)                                                                     // jmp rax
	_, err = memory.WriteAt(jump, entry)
	return err
})

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
