package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

const (
	blockSize = 1 << 18
	// maxLine bounds a line, in bytes: a longer one is damage, not an event.
	maxLine = 1 << 20
)

var errLong = fmt.Errorf("the line is longer than %d bytes", maxLine)

// block is a piece of a file, cut at the end of a line, and what is in it.
type block struct {
	text []byte
	line int  // the number of its first line
	last bool // the file ends behind it
	cut  bool // it would not have, if it were whole

	clock  hostClock // of the header, in the first block
	parser parser
	events []Event
	lines  []uint32
	parsed chan struct{} // closed when the rest is there

	err     error
	errLine int
	note    string // of a last line that was cut short
	until   int    // the last whole line
}

// cutter cuts a file into blocks.
type cutter struct {
	in   io.Reader
	line int
	rest []byte // the beginning of a line
	done bool
}

// fill reads the next block.
func (c *cutter) fill(bl *block) {
	bl.text, bl.line, bl.last, bl.cut, bl.err, bl.note = append(bl.text[:0], c.rest...), c.line, false, false, nil, ""
	for {
		begin := len(bl.text)
		bl.text = append(bl.text, make([]byte, blockSize)...)
		n, err := io.ReadFull(c.in, bl.text[begin:])
		bl.text = bl.text[:begin+n]
		if zero := bytes.IndexByte(bl.text[begin:], 0); zero >= 0 {
			c.killed(bl, begin+zero)
			return
		}
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			c.done, bl.last = true, true
			return
		case errors.Is(err, errShort):
			c.done, bl.last, bl.cut = true, true, true
			return
		case err != nil:
			c.fail(bl, c.line, fmt.Errorf("read the history: %w", err))
			return
		}
		if end := bytes.LastIndexByte(bl.text, '\n') + 1; end > 0 {
			c.rest = append(c.rest[:0], bl.text[end:]...)
			bl.text = bl.text[:end]
			c.line += bytes.Count(bl.text, []byte{'\n'})
			return
		}
		if len(bl.text) > maxLine {
			c.fail(bl, c.line, errLong)
			return
		}
	}
}

func (c *cutter) fail(bl *block, line int, err error) {
	c.done, bl.err, bl.errLine = true, err, line
}

// killed ends the file at a zero byte: a recorder that was killed leaves the space
// that it had reserved. Nothing else may stand in the rest but of the line that it was
// writing, which may have holes: a process can be killed in the middle of a copy.
func (c *cutter) killed(bl *block, zero int) {
	c.done, bl.last = true, true
	rest := bl.text[zero:]
	bl.text = bl.text[:zero]
	if i := bytes.IndexByte(rest, '\n'); i >= 0 {
		rest = rest[i+1:]
	}
	buf := make([]byte, blockSize)
	for {
		if len(bytes.Trim(rest, "\x00")) > 0 {
			c.fail(bl, bl.line+bytes.Count(bl.text, []byte{'\n'}), errors.New("zero bytes in the middle of the file"))
			return
		}
		n, err := c.in.Read(buf)
		if rest = buf[:n]; err != nil && n == 0 {
			if !errors.Is(err, io.EOF) {
				c.fail(bl, c.line, fmt.Errorf("read the history: %w", err))
			}
			return
		}
	}
}

// parse reads the lines of the block. An error of the cutter lies behind them.
func (bl *block) parse() {
	bl.events, bl.lines, bl.parser.scratch, bl.parser.copies = bl.events[:0], bl.lines[:0], nil, bl.parser.copies[:0]
	text := bl.text
	bl.until = bl.line - 1
	for n := bl.line; len(text) > 0; n++ {
		line, rest, whole := bytes.Cut(text, []byte{'\n'})
		text = rest
		if n == 1 && !whole && strings.HasPrefix(header, string(line)) {
			bl.err, bl.errLine = errEmpty, 1
			return
		}
		if len(line) > maxLine {
			bl.err, bl.errLine = errLong, n
			return
		}
		if !whole && bl.last && !json.Valid(line) && n > 1 {
			bl.note = fmt.Sprintf("line %d, the last, was cut short and is left out", n)
			return
		}
		if err := bl.parseLine(n, bytes.TrimSpace(line)); err != nil {
			bl.err, bl.errLine = err, n
			return
		}
		bl.until = n
	}
	if bl.line == 1 && len(bl.text) == 0 && bl.err == nil {
		bl.err, bl.errLine = errEmpty, 1
	}
}

func (bl *block) parseLine(n int, line []byte) (err error) {
	switch {
	case n == 1:
		bl.clock, err = parseHeader(line)
		return err
	case len(line) == 0:
		return nil
	}
	if len(bl.events) == cap(bl.events) {
		bl.events = append(bl.events, Event{})[:len(bl.events)]
	}
	bl.events = bl.events[:len(bl.events)+1]
	ev := &bl.events[len(bl.events)-1]
	*ev = Event{}
	bl.lines = append(bl.lines, uint32(n))
	if err := bl.parser.event(line, ev); err != nil {
		bl.events = bl.events[:len(bl.events)-1]
		return err
	}
	return nil
}
