package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/lockbench/lockbench/internal/clock"
)

const (
	clockLibrary = "clock.so"
	clockFile    = "clock"
)

// HasCompiler says why no server's clock can be moved on this machine, or nil.
func HasCompiler() error { return clock.HasCompiler() }

// clocked is p with a wall clock of its own.
func clocked(p Program, library string) Program {
	files := map[string]string{clockLibrary: library, clockFile: string(clock.Wall(0, 0))}
	for name, text := range p.Files {
		files[name] = text
	}
	p.Files = files
	p.Env = append(p.Env[:len(p.Env):len(p.Env)],
		clock.PreloadVar+"={dir}/"+clockLibrary, clock.FileVar+"={dir}/"+clockFile)
	return p
}

// skew moves the clock of a server that was started with one.
func (s *Server) skew(step time.Duration, rate float64) error {
	place, ok := s.host.(Enterable)
	if !ok || s.program.Files[clockLibrary] == "" {
		return fmt.Errorf("%s: %w", s.Name(), ErrNoClock)
	}
	// In place: the server has the file mapped.
	err := place.Do(func() error {
		f, err := os.OpenFile(filepath.Join(place.Dir(), clockFile), os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = f.WriteAt(clock.Wall(step, rate), 0)
		return errors.Join(err, f.Close())
	})
	if err != nil {
		return fmt.Errorf("move the clock of %s: %w", s.Name(), err)
	}
	return nil
}

// Sweep has the server drop what is over by its clock.
func (s *Server) Sweep(ctx context.Context) error {
	if s.kind.Sweep == nil {
		return nil
	}
	return s.kind.Sweep(ctx, s.Endpoint())
}
