package foreign

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

// mostSaid is how much of its standard error a program's log takes: one that does not stop
// must not fill a disk.
const mostSaid = 1 << 20

// said passes a program's standard error on, and remembers its last line.
type said struct {
	to io.Writer

	mu   sync.Mutex
	n    int
	line []byte // the last that is not empty, perhaps not whole
	end  bool   // of that line
}

// Write implements [io.Writer].
func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for rest := b; len(rest) > 0; {
		part, more, whole := bytes.Cut(rest, []byte("\n"))
		if len(bytes.TrimSpace(part)) > 0 {
			if s.end {
				s.line, s.end = s.line[:0], false
			}
			s.line = append(s.line, part[:min(len(part), max(0, longest-len(s.line)))]...)
		}
		s.end = s.end || whole
		rest = more
	}
	if s.n < mostSaid {
		_, _ = s.to.Write(b) // a log that can't be written is not the program's fault
		if s.n += len(b); s.n >= mostSaid {
			_, _ = io.WriteString(s.to, "\nlockbench: what the program prints from here on is left out\n")
		}
	}
	return len(b), nil
}

// last is the last line that it printed.
func (s *said) last() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.TrimSpace(string(s.line))
}
