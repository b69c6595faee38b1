package clock

import (
	"embed"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// preload is the clock for programs that are not ours; see clock.c in it.
//
//go:embed preload
var preload embed.FS

// What a program needs to have a clock of ours: to be started with the library, and to be
// told the file that says how its clocks differ from the machine's.
const (
	PreloadVar = "LD_PRELOAD"
	FileVar    = "LOCKBENCH_CLOCK"
)

// HasCompiler says why no other program's clock can be moved on this machine, or nil.
func HasCompiler() error {
	if _, err := exec.LookPath("cc"); err != nil {
		return fmt.Errorf("moving another program's clock needs a C compiler (apt-get install gcc): %w", err)
	}
	return nil
}

// Library is the shared library to preload, compiled once in a process. It is freestanding,
// so that no headers are needed.
var Library = sync.OnceValues(func() ([]byte, error) {
	if err := HasCompiler(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "lockbench-clock-")
	if err != nil {
		return nil, fmt.Errorf("compile the clock: %w", err)
	}
	defer os.RemoveAll(dir)
	if err := os.CopyFS(dir, preload); err != nil {
		return nil, fmt.Errorf("compile the clock: %w", err)
	}
	out := filepath.Join(dir, "clock.so")
	cc := exec.Command("cc", "-shared", "-fPIC", "-O1", "-nostdlib", "-ffreestanding", "-fno-stack-protector",
		"-o", out, filepath.Join(dir, "preload", "all.c"))
	if text, err := cc.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("compile the clock: %w: %s", err, text)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		return nil, fmt.Errorf("compile the clock: %w", err)
	}
	return b, nil
})

// Wall is the content of a file that moves the wall clock alone, as a server's is.
func Wall(ahead time.Duration, rate float64) []byte {
	b := binary.NativeEndian.AppendUint64(nil, uint64(ahead))
	b = binary.NativeEndian.AppendUint64(b, uint64(Now()))
	return binary.NativeEndian.AppendUint64(b, uint64(int64(rate*1e9)))
}
