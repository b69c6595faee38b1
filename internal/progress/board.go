// Package progress shows what a long work is at: on a terminal a few lines that are drawn
// again and again, below those that stay; elsewhere only those that stay. It knows nothing
// of the work.
package progress

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"
)

// Board is where to show it. Its methods may be used from several goroutines.
type Board struct {
	mu    sync.Mutex
	w     io.Writer
	width func() int // of the terminal in columns; nil where there is none
	drawn int        // lines that are to be drawn over
}

// New is a board on w, which is a terminal if it is the file of one that can move its
// cursor.
func New(w io.Writer) *Board {
	b := &Board{w: w}
	f, ok := w.(*os.File)
	if ok && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd())) {
		b.width = func() int {
			if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
				return width
			}
			return 80
		}
	}
	return b
}

// Live reports whether what [Board.Show] shows is seen.
func (b *Board) Live() bool { return b.width != nil }

// Say writes a line that stays. What was shown below is gone until it is shown again.
func (b *Board) Say(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.write(b.wipe() + fmt.Sprintf(format, args...) + "\n")
}

// Show draws lines in the place of those that were shown before. Each is cut where the
// terminal ends, so that none takes two.
func (b *Board) Show(lines ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.width == nil {
		return
	}
	text := b.wipe()
	for _, line := range lines {
		if r, width := []rune(line), b.width()-1; len(r) > width {
			line = string(r[:max(0, width-1)]) + "…"
		}
		text += line + "\n"
	}
	b.drawn = len(lines)
	b.write(text)
}

// Close takes away what was shown.
func (b *Board) Close() { b.Show() }

// wipe is what takes away the lines that were drawn.
func (b *Board) wipe() string {
	n := b.drawn
	b.drawn = 0
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("\x1b[%dA\r\x1b[J", n)
}

// write leaves an error to who writes next: nobody's work fails because nobody looks.
func (b *Board) write(text string) {
	if text != "" {
		_, _ = io.WriteString(b.w, text)
	}
}

// Bar draws how much of the whole is done, from 0 to 1.
func Bar(share float64) string {
	const width = 24
	n := int(share * width)
	n = max(0, min(width, n))
	return "[" + strings.Repeat("#", n) + strings.Repeat(".", width-n) + "]"
}
