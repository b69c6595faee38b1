package history

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strings"

	"github.com/lockbench/lockbench/internal/clock"
)

// headerRoom is how long the header of a recorder with a clock of its own is, in bytes: what is
// written there at last is not known when the file is begun.
const headerRoom = 384

// clockHeader is the first line of a recorder whose clock differs so, or of one of which that is not known.
func clockHeader(name string, differs *clock.Line) string {
	head := fmt.Sprintf(`{"lockbench":"history","version":%d,"clock":{`, VersionOfClocks) +
		strings.TrimPrefix(string(appendString(nil, "name", name)), ",")
	if l := differs; l != nil {
		head += fmt.Sprintf(`,"offset_ns":%d,"error_ns":%d,"drift_ppb":%d,"from_ns":%d,"to_ns":%d,"strays_ppb":%d,"likely_ns":%d`,
			l.Offset, l.Error, l.PPB, l.From, l.To, l.Strays, l.Likely)
	}
	return fmt.Sprintf("%-*s\n", headerRoom-1, head+"}}")
}

// SetClock says in the header of a file that [CreateOwn] has begun how its recorder's clock differs
// from the others'. The recorder may go on; so may readers.
// With nil nobody knows, and the file can't be judged.
func SetClock(path, name string, differs *clock.Line) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("tell of a clock: %w", err)
	}
	defer f.Close()
	head := clockHeader(name, differs)
	there, err := bufio.NewReader(f).ReadSlice('\n')
	if err == nil && len(there) != len(head) {
		err = fmt.Errorf("its header has %d bytes, and %d are needed", len(there), len(head))
	}
	if err == nil {
		_, err = f.WriteAt([]byte(head), 0)
	}
	if err != nil {
		return fmt.Errorf("tell of a clock in %s: %w", path, err)
	}
	return nil
}

// ClockOf is what the header of a file says of its recorder's clock.
func ClockOf(path string) (clock.Line, error) {
	f, err := os.Open(path)
	if err != nil {
		return clock.Line{}, fmt.Errorf("read of a clock: %w", err)
	}
	defer f.Close()
	head, err := bufio.NewReader(f).ReadSlice('\n')
	if err != nil {
		return clock.Line{}, fmt.Errorf("read of a clock in %s: %w", path, err)
	}
	own, err := parseHeader(bytes.TrimSpace(head))
	return own.Line, err
}
