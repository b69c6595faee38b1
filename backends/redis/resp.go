package redis

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/lockbench/lockbench/internal/wire"
)

// values finds the end of a value of RESP, version 2 or 3, that may have values inside,
// while its bytes come in pieces.
type values struct {
	read    int // bytes of it
	missing int // values, behind the next one
}

func (v *values) length(b []byte) int {
	for v.missing >= 0 {
		n, inside := value(b[v.read:])
		if n <= 0 {
			return n
		}
		if v.read+n > len(b) {
			return v.read + n
		}
		v.read += n
		v.missing += inside - 1
	}
	n := v.read
	*v = values{}
	return n
}

// value is the length of the one at the beginning without those inside, and how many
// these are. The length is 0 while too little is there to tell.
func value(b []byte) (length, inside int) {
	const simple, text, several = "+-:_#,(", "$=!", "*~>%"
	if len(b) > 0 && !strings.Contains(simple+text+several, string(b[:1])) {
		return wire.Nonsense, 0
	}
	end := bytes.Index(b, crlf)
	if end < 0 {
		return 0, 0
	}
	line := end + len(crlf)
	if strings.Contains(simple, string(b[:1])) {
		return line, 0
	}
	n, err := strconv.Atoi(string(b[1:end]))
	switch {
	case err != nil || n < -1 || n > wire.Longest:
		return wire.Nonsense, 0
	case n < 0: // nothing
		return line, 0
	case strings.Contains(text, string(b[:1])):
		return line + n + len(crlf), 0
	case b[0] == '%':
		return line, 2 * n
	}
	return line, n
}

// opening is how many values an array has, and the first of them in small letters, where
// that is a short text, such as the name of a command.
func opening(b []byte) (size int, first string) {
	if b[0] != '*' && b[0] != '>' {
		return 0, ""
	}
	head, rest, _ := bytes.Cut(b[1:], crlf)
	size, _ = strconv.Atoi(string(head))
	if size <= 0 || rest[0] != '$' {
		return size, ""
	}
	head, rest, _ = bytes.Cut(rest[1:], crlf)
	if n, _ := strconv.Atoi(string(head)); n > 0 && n <= 64 {
		first = strings.ToLower(string(rest[:n]))
	}
	return size, first
}

var crlf = []byte("\r\n")
