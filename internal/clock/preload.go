package clock

import (
	"crypto/sha256"
	"embed"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
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
	kept := keptAt()
	if b, err := os.ReadFile(kept); err == nil && kept != "" {
		return b, nil
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
	keepAt(kept, b)
	return b, nil
})

// keptAt is where the library is kept for the next process, by what it is made of; "" where there
// is no such place. A worker that is killed while it compiles would leave its directory behind.
func keptAt() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	h := sha256.New()
	err = fs.WalkDir(preload, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := preload.ReadFile(path)
		fmt.Fprintf(h, "%s %d %s\n%s", path, len(text), runtime.GOARCH, text)
		return err
	})
	if err != nil {
		return ""
	}
	return filepath.Join(cache, "lockbench", "clock-"+hex.EncodeToString(h.Sum(nil))[:16]+".so")
}

// keepAt is for the next process, which does without where it can't be done.
func keepAt(path string, library []byte) {
	if path == "" || os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return
	}
	draft, err := os.CreateTemp(filepath.Dir(path), "draft-")
	if err != nil {
		return
	}
	_, err = draft.Write(library)
	if err = errors.Join(err, draft.Close()); err == nil {
		err = os.Rename(draft.Name(), path) // there whole, or not at all
	}
	if err != nil {
		_ = os.Remove(draft.Name())
	}
}

// Wall is the content of a file that moves the wall clock alone, as a server's is.
func Wall(ahead time.Duration, rate float64) []byte {
	b := binary.NativeEndian.AppendUint64(nil, uint64(ahead))
	b = binary.NativeEndian.AppendUint64(b, uint64(Now()))
	return binary.NativeEndian.AppendUint64(b, uint64(int64(rate*1e9)))
}
