package jepsen

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ednReader reads the part of EDN that histories use: maps, vectors, lists, sets,
// keywords, symbols, strings, characters, numbers, nil, booleans, tags (which it
// skips), comments and discards. Keywords lose their colon, so that EDN and JSON
// give the same values. It is written here because an error must name its line.
type ednReader struct {
	src   string
	pos   int
	line  int
	depth int
}

// maxDepth bounds nesting; histories are three or four deep.
const maxDepth = 100

var (
	errEnd    = errors.New("the text ends too early")
	errBehind = errors.New("there is more behind the end of the history")
)

// ednOps hands every operation of the text to take, with its line. They stand in
// one vector or list, or one after the other.
func ednOps(src string, take func(op map[string]any) error) error {
	r := &ednReader{src: src, line: 1}
	end := byte(0)
	switch r.peek() {
	case '[':
		end = ']'
	case '(':
		end = ')'
	}
	if end != 0 {
		r.pos++
	}
	for r.peek() != end {
		line := r.line
		v, ok, err := r.value()
		switch {
		case errors.Is(err, errEnd): // the line where it began says more
			return &LineError{Line: line, Err: err}
		case err != nil:
			return &LineError{Line: r.line, Err: err}
		case !ok:
			continue
		}
		op, ok := v.(map[string]any)
		if !ok {
			return &LineError{Line: line, Err: fmt.Errorf("an operation is a map, not %v", v)}
		}
		if err := take(op); err != nil {
			return &LineError{Line: line, Err: err}
		}
	}
	if r.pos++; end != 0 && r.peek() != 0 {
		return &LineError{Line: r.line, Err: errBehind}
	}
	return nil
}

// peek skips what means nothing and returns the next byte, 0 at the end.
func (r *ednReader) peek() byte {
	for r.pos < len(r.src) {
		switch c := r.src[r.pos]; {
		case c == '\n':
			r.line++
		case c == ' ' || c == ',' || c == '\t' || c == '\r' || c == '\f':
		case c == ';':
			if n := strings.IndexByte(r.src[r.pos:], '\n'); n >= 0 {
				r.pos += n - 1
			} else {
				r.pos = len(r.src)
				return 0
			}
		case c == 0:
			return 1 // no character of EDN, and not the end
		default:
			return c
		}
		r.pos++
	}
	return 0
}

// value reads one value. ok is false where it was discarded.
func (r *ednReader) value() (v any, ok bool, err error) {
	if r.depth++; r.depth > maxDepth {
		return nil, false, fmt.Errorf("more than %d levels of nesting", maxDepth)
	}
	defer func() { r.depth-- }()
	switch c := r.peek(); c {
	case 0:
		return nil, false, errEnd
	case '[':
		v, err = r.list(']')
	case '(':
		v, err = r.list(')')
	case '{':
		v, err = r.dict()
	case '"':
		v, err = r.text()
	case '#':
		return r.dispatch()
	default:
		v, err = r.atom()
	}
	return v, err == nil, err
}

// dispatch reads what begins with #: a set, a discarded value, or a tagged one.
func (r *ednReader) dispatch() (any, bool, error) {
	r.pos++
	switch c := r.peek(); c {
	case '{':
		v, err := r.list('}')
		return v, err == nil, err
	case '_':
		r.pos++
		_, _, err := r.value()
		return nil, false, err
	case 0:
		return nil, false, errEnd
	}
	if r.word() == "" {
		return nil, false, fmt.Errorf("unexpected %q", r.src[r.pos])
	}
	return r.value()
}

func (r *ednReader) list(closing byte) ([]any, error) {
	r.pos++
	list := []any{}
	for r.peek() != closing {
		v, ok, err := r.value()
		if err != nil {
			return nil, err
		}
		if ok {
			list = append(list, v)
		}
	}
	r.pos++
	return list, nil
}

func (r *ednReader) dict() (map[string]any, error) {
	list, err := r.list('}')
	if err != nil {
		return nil, err
	}
	if len(list)%2 != 0 {
		return nil, errors.New("a map with a key that has no value")
	}
	m := make(map[string]any, len(list)/2)
	for i := 0; i < len(list); i += 2 {
		m[fmt.Sprint(list[i])] = list[i+1]
	}
	return m, nil
}

func (r *ednReader) text() (string, error) {
	start := r.pos
	for i := start + 1; i < len(r.src); i++ {
		switch r.src[i] {
		case '\n':
			r.line++
		case '\\':
			i++
		case '"':
			r.pos = i + 1
			raw := strings.ReplaceAll(r.src[start:i+1], "\n", `\n`)
			s, err := strconv.Unquote(raw)
			if err != nil {
				return "", fmt.Errorf("not a string: %s", raw)
			}
			return s, nil
		}
	}
	return "", errEnd
}

// word takes everything up to a delimiter.
func (r *ednReader) word() string {
	n := strings.IndexAny(r.src[r.pos:], " ,\t\r\n\f\"();[]{}\x00")
	if n < 0 {
		n = len(r.src) - r.pos
	}
	w := r.src[r.pos : r.pos+n]
	r.pos += n
	return w
}

func (r *ednReader) atom() (any, error) {
	if r.src[r.pos] == '\\' { // a character, even one that is a delimiter
		_, size := utf8.DecodeRuneInString(r.src[r.pos+1:])
		start := r.pos + 1
		r.pos = start + size
		r.word()
		return r.src[start:r.pos], nil
	}
	w := r.word()
	switch w {
	case "":
		return nil, fmt.Errorf("unexpected %q", r.src[r.pos])
	case "nil":
		return nil, nil
	case "true", "false":
		return w == "true", nil
	}
	if n, err := strconv.ParseInt(strings.TrimSuffix(w, "N"), 10, 64); err == nil {
		return n, nil
	}
	if f, err := strconv.ParseFloat(strings.TrimSuffix(w, "M"), 64); err == nil {
		return f, nil
	}
	return strings.TrimPrefix(w, ":"), nil
}
