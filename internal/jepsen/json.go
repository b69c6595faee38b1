package jepsen

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// jsonOps is like [ednOps]: one array of operations, or one after the other. Names
// may keep the colon of their keywords.
func jsonOps(src string, take func(op map[string]any) error) error {
	dec := json.NewDecoder(strings.NewReader(src))
	dec.UseNumber()
	counted, line := 0, 1
	here := func() int { // the line of what was just read
		at := int(dec.InputOffset())
		line += strings.Count(src[counted:at], "\n")
		counted = at
		return line
	}
	array := strings.HasPrefix(strings.TrimLeft(src, " \t\r\n"), "[")
	if array {
		dec.Token() // it is there
	}
	for !array || dec.More() {
		var raw map[string]any
		err := dec.Decode(&raw)
		var syntax *json.SyntaxError
		switch {
		case errors.Is(err, io.EOF) && !array:
			return nil
		case errors.As(err, &syntax):
			return &LineError{Line: 1 + strings.Count(src[:min(int(syntax.Offset), len(src))], "\n"), Err: err}
		case err != nil:
			return &LineError{Line: here(), Err: fmt.Errorf("not an operation: %w", err)}
		}
		op := make(map[string]any, len(raw))
		for k, v := range raw {
			op[strings.TrimPrefix(k, ":")] = plain(v)
		}
		if err := take(op); err != nil {
			return &LineError{Line: here(), Err: err}
		}
	}
	if _, err := dec.Token(); err != nil {
		return &LineError{Line: here(), Err: errEnd}
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return &LineError{Line: here(), Err: errBehind}
	}
	return nil
}

// plain makes of a JSON value what the EDN reader makes of the same one.
func plain(v any) any {
	switch v := v.(type) {
	case string:
		return strings.TrimPrefix(v, ":")
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64()
		return f
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	}
	return v
}
