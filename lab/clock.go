package lab

import (
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/lockbench/lockbench/internal/clock"
)

// clockSource is the clock that is preloaded into a server; see its own comment.
//
//go:embed preload/clock.c
var clockSource string

const (
	clockLibrary = "clock.so"
	clockFile    = "clock"
)

// HasCompiler says why no server's clock can be moved on this machine, or nil.
func HasCompiler() error {
	if _, err := exec.LookPath("cc"); err != nil {
		return fmt.Errorf("moving a server's clock needs a C compiler (apt-get install gcc): %w", err)
	}
	return nil
}

// compileClock builds the library. Freestanding, it takes some 50 ms.
func compileClock() (library string, err error) {
	dir, err := os.MkdirTemp("", "lockbench-clock-")
	if err != nil {
		return "", fmt.Errorf("lab: compile the clock: %w", err)
	}
	defer os.RemoveAll(dir)
	source, out := filepath.Join(dir, "clock.c"), filepath.Join(dir, clockLibrary)
	if err := os.WriteFile(source, []byte(clockSource), 0o600); err != nil {
		return "", fmt.Errorf("lab: compile the clock: %w", err)
	}
	cc := exec.Command("cc", "-shared", "-fPIC", "-O2", "-nostdlib", "-ffreestanding", "-fno-stack-protector", "-o", out, source)
	if text, err := cc.CombinedOutput(); err != nil {
		return "", fmt.Errorf("lab: compile the clock: %w: %s", err, text)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		return "", fmt.Errorf("lab: compile the clock: %w", err)
	}
	return string(b), nil
}

// clocked is p with a clock of its own.
func clocked(p Program, library string) Program {
	files := map[string]string{clockLibrary: library, clockFile: string(skewed(0, 0))}
	for name, text := range p.Files {
		files[name] = text
	}
	p.Files = files
	p.Env = append(p.Env[:len(p.Env):len(p.Env)], "LD_PRELOAD={dir}/"+clockLibrary, "LOCKBENCH_CLOCK={dir}/"+clockFile)
	return p
}

// skewed is the content of the clock's file.
func skewed(offset time.Duration, rate float64) []byte {
	b := binary.NativeEndian.AppendUint64(nil, uint64(offset))
	b = binary.NativeEndian.AppendUint64(b, uint64(clock.Now()))
	return binary.NativeEndian.AppendUint64(b, uint64(int64(rate*1e9)))
}

// skew moves the clock of a server that was started with one.
func (s *Server) skew(step time.Duration, rate float64) error {
	place, ok := s.host.(interface {
		Dir() string
		Do(func() error) error
	})
	if !ok || s.program.Files[clockLibrary] == "" {
		return fmt.Errorf("lab: %s: %w", s.Name(), ErrNoClock)
	}
	// In place: the server has the file mapped.
	err := place.Do(func() error {
		f, err := os.OpenFile(filepath.Join(place.Dir(), clockFile), os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = f.WriteAt(skewed(step, rate), 0)
		return errors.Join(err, f.Close())
	})
	if err != nil {
		return fmt.Errorf("lab: move the clock of %s: %w", s.Name(), err)
	}
	return nil
}
