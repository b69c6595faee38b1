package rundir

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lockbench/lockbench/history"
)

// open opens a file, or the compressed one in its place.
func open(path string) (*os.File, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		if z, zErr := os.Open(path + gz); zErr == nil {
			return z, nil
		}
	}
	return f, err
}

// exists reports whether the file is there, compressed or not.
func exists(path string) bool {
	for _, p := range []string{path, path + gz} {
		if info, err := os.Stat(p); err == nil && !info.IsDir() {
			return true
		}
	}
	return false
}

// readJSON names the file, and the line where the text is damaged.
func readJSON(path string, v any) error {
	f, err := open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	plain, err := history.Plain(f)
	if err != nil {
		return &history.LineError{File: f.Name(), Line: 1, Err: err}
	}
	b, err := io.ReadAll(plain)
	if err != nil {
		return fmt.Errorf("read %s: %w", f.Name(), err)
	}
	return decode(f.Name(), b, v)
}

func decode(path string, b []byte, v any) error {
	head := struct {
		Schema *int `json:"schema"`
	}{}
	err := json.Unmarshal(b, &head)
	if err == nil && (head.Schema == nil || *head.Schema != history.Schema) {
		return &history.LineError{File: path, Line: lineAt(b, int64(bytes.Index(b, []byte(`"schema"`)))), Err: otherSchema(head.Schema)}
	}
	if err == nil {
		err = json.Unmarshal(b, v)
	}
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return &history.LineError{File: path, Line: lineAt(b, syntax.Offset), Err: err}
	case errors.As(err, &kind):
		return &history.LineError{File: path, Line: lineAt(b, kind.Offset), Err: err}
	}
	return err
}

func otherSchema(n *int) error {
	switch {
	case n == nil:
		return fmt.Errorf("it has no schema; this lockbench reads schema %d", history.Schema)
	case *n < history.Schema:
		return fmt.Errorf("schema %d is that of an older lockbench, this one reads schema %d; the history alone can still be judged: lockbench check FILE", *n, history.Schema)
	}
	return fmt.Errorf("schema %d is that of a newer lockbench, this one reads schema %d", *n, history.Schema)
}

func lineAt(b []byte, offset int64) int {
	return 1 + bytes.Count(b[:max(0, min(int(offset), len(b)))], []byte{'\n'})
}

// writeJSON replaces a file at once, so that an interruption leaves the old one or the
// new one.
func writeJSON(path string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return replace(path, append(b, '\n'))
}

// replace gives the file another content at once.
func replace(path string, content []byte) (err error) {
	defer func() {
		if err != nil {
			var where *fs.PathError // of a name that nobody knows
			if errors.As(err, &where) {
				err = where.Err
			}
			err = fmt.Errorf("write %s: %w", path, err)
		}
	}()
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	err = errors.Join(err, f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // it may not even be there
	}
	return err
}

// Writable says why no file can be made in the directory, or nil.
func Writable(dir string) error {
	f, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return fmt.Errorf("%s can't be written: %w", dir, errors.Unwrap(err))
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}
