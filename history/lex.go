package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// lexer reads the JSON of one line. It is written here because a history of ten
// million operations is two gigabytes of lines, and because encoding/json takes keys
// in any case, fields twice, and bytes that are no text.
type lexer struct {
	line []byte
	pos  int
	// scratch holds the strings that had escapes; what was handed out stays valid.
	scratch []byte
}

var (
	errCut      = errors.New("the line ends too early")
	errNotUTF8  = errors.New("a string is not UTF-8")
	errNotWhole = errors.New("a number is not a whole one of 64 bits")
)

func (l *lexer) space() {
	for l.pos < len(l.line) {
		switch l.line[l.pos] {
		case ' ', '\t', '\r', '\n':
			l.pos++
		default:
			return
		}
	}
}

// next skips space and returns the byte that stands there, 0 at the end.
func (l *lexer) next() byte {
	if l.space(); l.pos < len(l.line) {
		return l.line[l.pos]
	}
	return 0
}

// want skips space and the byte c.
func (l *lexer) want(c byte) error {
	switch got := l.next(); {
	case got == c:
		l.pos++
		return nil
	case l.pos == len(l.line):
		return errCut
	default:
		return fmt.Errorf("%q where %q belongs", got, c)
	}
}

// object reads an object and calls field with each key, behind its colon.
func (l *lexer) object(field func(key []byte) error) error {
	if err := l.want('{'); err != nil {
		return err
	}
	if l.next() == '}' {
		l.pos++
		return nil
	}
	for {
		key, err := l.text()
		if err == nil {
			err = l.want(':')
		}
		if err == nil {
			err = field(key)
		}
		if err != nil {
			return err
		}
		if l.next() == '}' {
			l.pos++
			return nil
		}
		if err := l.want(','); err != nil {
			return err
		}
	}
}

// text reads a string. The result lies in the line or in the scratch.
func (l *lexer) text() ([]byte, error) {
	if err := l.want('"'); err != nil {
		return nil, err
	}
	start, ascii := l.pos, true
	for ; l.pos < len(l.line); l.pos++ {
		switch c := l.line[l.pos]; {
		case c == '"':
			s := l.line[start:l.pos]
			l.pos++
			if !ascii && !utf8.Valid(s) {
				return nil, errNotUTF8
			}
			return s, nil
		case c == '\\':
			return l.escaped(start)
		case c < ' ':
			return nil, fmt.Errorf("the byte %#02x in a string", c)
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	return nil, errCut
}

// escaped reads the rest of a string that began at start and has escapes.
func (l *lexer) escaped(start int) ([]byte, error) {
	if !utf8.Valid(l.line[start:l.pos]) {
		return nil, errNotUTF8
	}
	begin := len(l.scratch)
	l.scratch = append(l.scratch, l.line[start:l.pos]...)
	for l.pos < len(l.line) {
		switch c := l.line[l.pos]; {
		case c == '"':
			l.pos++
			return l.scratch[begin:len(l.scratch):len(l.scratch)], nil
		case c == '\\':
			l.pos++
			if err := l.escape(); err != nil {
				return nil, err
			}
		case c < ' ':
			return nil, fmt.Errorf("the byte %#02x in a string", c)
		default:
			r, n := utf8.DecodeRune(l.line[l.pos:])
			if r == utf8.RuneError && n == 1 {
				return nil, errNotUTF8
			}
			l.scratch = append(l.scratch, l.line[l.pos:l.pos+n]...)
			l.pos += n
		}
	}
	return nil, errCut
}

// escape reads what follows a backslash.
func (l *lexer) escape() error {
	if l.pos == len(l.line) {
		return errCut
	}
	c := l.line[l.pos]
	l.pos++
	switch c {
	case '"', '\\', '/':
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	case 'u':
		return l.codePoint()
	default:
		return fmt.Errorf("the escape \\%c", c)
	}
	l.scratch = append(l.scratch, c)
	return nil
}

// The low surrogates that stand, alone, for the bytes 0x80 to 0xff of a name that is
// not UTF-8, as in Python's surrogateescape (PEP 383).
const byteEscape = 0xdc00

// codePoint reads the digits of \u, and its second half where there is one.
func (l *lexer) codePoint() error {
	r, err := l.hex()
	if err != nil {
		return err
	}
	switch {
	case !utf16.IsSurrogate(r):
		l.scratch = utf8.AppendRune(l.scratch, r)
		return nil
	case byteEscape+0x80 <= r && r <= byteEscape+0xff:
		l.scratch = append(l.scratch, byte(r-byteEscape))
		return nil
	}
	if len(l.line)-l.pos >= 2 && l.line[l.pos] == '\\' && l.line[l.pos+1] == 'u' {
		l.pos += 2
		low, err := l.hex()
		if err != nil {
			return err
		}
		if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
			l.scratch = utf8.AppendRune(l.scratch, r)
			return nil
		}
	}
	return errNotUTF8
}

func (l *lexer) hex() (r rune, err error) {
	if len(l.line)-l.pos < 4 {
		return 0, errCut
	}
	for _, c := range l.line[l.pos : l.pos+4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, fmt.Errorf("%q is no digit of \\u", c)
		}
		r = r<<4 | rune(c)
	}
	l.pos += 4
	return r, nil
}

// whole reads a whole number of up to 64 bits: its amount, and whether it is negative.
func (l *lexer) whole() (amount uint64, negative bool, err error) {
	if l.next() == '-' {
		negative = true
		l.pos++
	}
	start := l.pos
	for ; l.pos < len(l.line); l.pos++ {
		c := l.line[l.pos] - '0'
		if c > 9 {
			break
		}
		next := amount*10 + uint64(c)
		if amount > (1<<64-1)/10 || next < amount*10 {
			return 0, false, errNotWhole
		}
		amount = next
	}
	switch {
	case l.pos == len(l.line):
		return 0, false, errCut
	case l.pos == start, l.line[start] == '0' && l.pos > start+1,
		l.line[l.pos] == '.', l.line[l.pos] == 'e', l.line[l.pos] == 'E':
		return 0, false, errNotWhole
	}
	return amount, negative, nil
}

func (l *lexer) signed() (int64, error) {
	n, negative, err := l.whole()
	switch {
	case err != nil:
		return 0, err
	case negative && n <= 1<<63:
		return -int64(n), nil
	case negative || n >= 1<<63:
		return 0, errNotWhole
	}
	return int64(n), nil
}

func (l *lexer) boolean() (bool, error) {
	l.space()
	switch rest := l.line[l.pos:]; {
	case bytes.HasPrefix(rest, []byte("true")):
		l.pos += len("true")
		return true, nil
	case bytes.HasPrefix(rest, []byte("false")):
		l.pos += len("false")
		return false, nil
	}
	return false, errors.New("neither true nor false")
}

// maxDepth bounds the nesting of what is skipped.
const maxDepth = 100

// skip passes over a value of any kind.
func (l *lexer) skip(depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("more than %d levels of nesting", maxDepth)
	}
	switch l.next() {
	case '"':
		_, err := l.text()
		return err
	case '{':
		return l.object(func([]byte) error { return l.skip(depth + 1) })
	case '[':
		return l.array(depth)
	}
	start := l.pos
	for l.pos < len(l.line) && bytes.IndexByte([]byte(" \t\r\n,]}"), l.line[l.pos]) < 0 {
		l.pos++
	}
	if word := l.line[start:l.pos]; !json.Valid(word) {
		return fmt.Errorf("%q is no value", word)
	}
	return nil
}

func (l *lexer) array(depth int) error {
	l.pos++
	if l.next() == ']' {
		l.pos++
		return nil
	}
	for {
		if err := l.skip(depth + 1); err != nil {
			return err
		}
		if l.next() == ']' {
			l.pos++
			return nil
		}
		if err := l.want(','); err != nil {
			return err
		}
	}
}
