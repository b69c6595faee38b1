// Package jepsen reads the histories of locks that Jepsen records, in EDN or JSON,
// as histories of lockbench.
//
// Jepsen knows processes, not acquisitions: an acquire and the releases of the same
// process that follow it are taken to belong together. The order of the file is
// the order of the events, as in Knossos; :time only says when, in nanoseconds.
// The package judges nothing.
package jepsen

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/lockbench/lockbench/history"
)

// LineError is a line that is not an operation of a lock.
type LineError = history.LineError

// Reading is what a failed release means: one that the lock service answered with
// "not held". Jepsen's histories do not say.
type Reading string

// The readings.
const (
	// Drop: it means nothing. The hold goes on, since a failed operation has no
	// effect. This is how Jepsen's own models read it.
	Drop Reading = "drop"
	// Ends: the hold had ended at some time before, as by a lease that ran out.
	Ends Reading = "ends"
)

// ParseReading reads the value of a flag.
func ParseReading(s string) (Reading, error) {
	switch r := Reading(s); r {
	case Drop, Ends:
		return r, nil
	}
	return "", fmt.Errorf("a failed release can be read as %q or %q, not %q", Drop, Ends, s)
}

// Is reports whether a file looks like a history of Jepsen, by its name and its
// beginning.
func Is(path string, head []byte) bool {
	if filepath.Ext(path) == ".edn" {
		return true
	}
	head = bytes.TrimLeft(head, " \t\r\n")
	if bytes.HasPrefix(head, []byte(`{"lockbench"`)) {
		return false
	}
	return len(head) > 0 && strings.IndexByte("[({#;", head[0]) >= 0 && bytes.Contains(head, []byte("invoke"))
}

// ReadFrom reads a history; name is used in errors. The notes of the index say how it
// was read. Damage is a *[LineError].
func ReadFrom(ctx context.Context, r io.Reader, name string, reading Reading) (*history.Index, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read Jepsen's history: %w", err)
	}
	h, notes, err := Parse(string(text), name, reading)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ix, err := history.Of(h)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	ix.Notes = append(notes, ix.Notes...)
	return ix, nil
}

// Parse converts the text of a history to events; name is used in errors. The notes
// say how it was read.
func Parse(text, name string, reading Reading) (history.Events, []string, error) {
	c := newConverter(reading)
	ops := ednOps
	if isJSON(text) {
		ops = jsonOps
	}
	if err := ops(text, c.take); err != nil {
		if line, ok := err.(*LineError); ok {
			line.File = name
		}
		return nil, nil, err
	}
	if len(c.history) == 0 {
		return nil, nil, &LineError{File: name, Line: 1, Err: fmt.Errorf("no operation of a lock in it")}
	}
	return c.history, c.notes(), nil
}

// isJSON tells the two apart by the first key: JSON's is a string.
func isJSON(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n")
	text = strings.TrimLeft(strings.TrimPrefix(text, "["), " \t\r\n")
	rest, ok := strings.CutPrefix(text, "{")
	return ok && strings.HasPrefix(strings.TrimLeft(rest, " \t\r\n"), `"`)
}
