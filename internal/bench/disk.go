package bench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/lockbench/lockbench/internal/clock"
	"github.com/lockbench/lockbench/internal/cost"
)

// diskSync measures what the disk itself takes for what durable servers wait for: one
// block appended to a log, and on the disk. Servers that share the write among several
// can do better; none can alone.
func diskSync(dir string) (_ []cost.Quantile, err error) {
	const writes, block = 200, 4096
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("measure the disk: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, "sync"), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644)
	if err != nil {
		return nil, fmt.Errorf("measure the disk: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	times, b := cost.NewLatencies(), make([]byte, block)
	for range writes {
		start := clock.Now()
		if _, err := f.Write(b); err != nil {
			return nil, fmt.Errorf("measure the disk: %w", err)
		}
		if err := dataSync(f); err != nil {
			return nil, fmt.Errorf("measure the disk: %w", err)
		}
		times.Add(clock.Now().Sub(start))
	}
	return times.Quantiles(), nil
}
