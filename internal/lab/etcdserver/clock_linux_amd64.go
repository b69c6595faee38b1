package etcdserver

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Go program asks the kernel's own library for the time (the vDSO), which no
// preloaded one can replace. So the entry of that library's clock_gettime becomes a
// jump to ours. Only this process sees it.

// clock is in assembly, and is never called from Go.
//
//lint:ignore U1000 its address is what clockAddr returns
func clock()

// clockAddr is the address of clock.
func clockAddr() uintptr

// skew is the address of the mapped file that says how far the clock is ahead:
// offset in ns, since when it drifts, drift in parts per billion.
//
//lint:ignore U1000 clock reads it
var skew uintptr

// ownClock gives this process the wall clock that the file says.
func ownClock(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	mapped, err := unix.Mmap(int(f.Fd()), 0, 24, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("map %s: %w", path, err)
	}
	skew = uintptr(unsafe.Pointer(&mapped[0]))
	memory, err := os.OpenFile("/proc/self/mem", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer memory.Close()
	entry, err := vdsoEntry(memory, "__vdso_clock_gettime")
	if err != nil {
		return err
	}
	jump := append([]byte{0x48, 0xb8}, binary.LittleEndian.AppendUint64(nil, uint64(clockAddr()))...) // mov rax, clock
	jump = append(jump, 0xff, 0xe0)                                                                   // jmp rax
	_, err = memory.WriteAt(jump, entry)
	return err
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
