// Package history reads and writes the event files that docs/history.md
// describes. It knows the format, not the meaning: that is the checkers' work.
package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	lb "github.com/lockbench/lockbench"
)

// Names inside a run's directory.
const (
	File = "history.jsonl"
	Dir  = "events"
)

// maxLine bounds a line, in bytes: a longer one is damage, not an event.
const maxLine = 1 << 20

// LineError is a line that is not an event.
type LineError struct {
	File string
	Line int
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }
func (e *LineError) Unwrap() error { return e.Err }

// Read reads a history file, ordered by time. A last line that a crash cut short
// is dropped and mentioned in the notes; any other damage is a *LineError.
func Read(path string) (lb.History, []string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("history: read: %w", err)
	}
	defer f.Close()
	h, notes, err := Parse(f, path)
	if err != nil {
		return nil, nil, err
	}
	sortByTime(h)
	return h, notes, nil
}

// ReadRun reads the history of a run's directory: the merged file, or, where the
// run ended before it was written, the recorders' own files.
func ReadRun(dir string) (lb.History, []string, error) {
	merged := filepath.Join(dir, File)
	if _, err := os.Stat(merged); err == nil {
		return Read(merged)
	}
	files, err := filepath.Glob(filepath.Join(dir, Dir, "*.jsonl"))
	if err != nil || len(files) == 0 {
		return nil, nil, fmt.Errorf("history: %s holds neither %s nor %s/*.jsonl: is it the directory of a run?", dir, File, Dir)
	}
	slices.Sort(files)
	var all lb.History
	notes := []string{"the run ended before its history was merged; read from " + Dir + "/"}
	for _, file := range files {
		h, n, err := Read(file)
		if err != nil {
			return nil, nil, err
		}
		all, notes = append(all, h...), append(notes, n...)
	}
	sortByTime(all)
	return all, notes, nil
}

// Merge writes the merged history of a run's directory.
func Merge(dir string) error {
	h, _, err := ReadRun(dir)
	if err != nil {
		return err
	}
	tmp := filepath.Join(dir, File+".tmp")
	if err := Write(tmp, h); err != nil {
		return err
	}
	if err := os.Rename(tmp, filepath.Join(dir, File)); err != nil {
		return fmt.Errorf("history: merge: %w", err)
	}
	return nil
}

// Write writes h as one history file.
func Write(path string, h lb.History) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("history: write: %w", err)
	}
	w := bufio.NewWriterSize(f, 1<<16)
	w.WriteString(header)
	var buf []byte
	for i := range h {
		buf = appendEvent(buf[:0], &h[i])
		w.Write(buf) // errors are kept by w until Flush
	}
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		return fmt.Errorf("history: write: %w", err)
	}
	return nil
}

func sortByTime(h lb.History) {
	slices.SortStableFunc(h, func(a, b lb.Event) int { return int(max(-1, min(1, a.At-b.At))) })
}

// Parse reads events from r in the order of the lines; name is used in errors.
func Parse(r io.Reader, name string) (lb.History, []string, error) {
	var h lb.History
	in := bufio.NewReaderSize(r, 1<<16)
	for n := 1; ; n++ {
		line, err := in.ReadSlice('\n')
		var long []byte
		for errors.Is(err, bufio.ErrBufferFull) && len(long) < maxLine {
			long = append(long, line...)
			line, err = in.ReadSlice('\n')
		}
		if long != nil {
			line = append(long, line...)
		}
		whole := err == nil
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, nil, &LineError{name, n, fmt.Errorf("line is longer than %d bytes", maxLine)}
		}
		if !whole && len(line) == 0 {
			if n == 1 {
				return nil, nil, &LineError{name, 1, errors.New("the file is empty; a history begins with " + strings.TrimSpace(header))}
			}
			return h, nil, nil
		}
		ev, skip, err := parseLine(n, bytes.TrimSpace(line))
		switch {
		case err != nil && !whole && n > 1:
			return h, []string{fmt.Sprintf("%s:%d: the last line was cut short and is left out", name, n)}, nil
		case err != nil:
			return nil, nil, &LineError{name, n, err}
		case !skip:
			h = append(h, ev)
		}
	}
}

func parseLine(n int, line []byte) (ev lb.Event, skip bool, err error) {
	if n == 1 {
		return ev, true, checkHeader(line)
	}
	if len(line) == 0 {
		return ev, true, nil
	}
	if err := json.Unmarshal(line, &ev); err != nil {
		return ev, false, fmt.Errorf("not an event: %w", err)
	}
	return ev, false, checkEvent(&ev)
}

func checkHeader(line []byte) error {
	var head struct {
		Lockbench string `json:"lockbench"`
		Version   int    `json:"version"`
	}
	if err := json.Unmarshal(line, &head); err != nil || head.Lockbench != "history" {
		return errors.New("not a lockbench history: its first line must be " + strings.TrimSpace(header))
	}
	if head.Version != lb.HistoryVersion {
		return fmt.Errorf("history version %d; this lockbench reads version %d", head.Version, lb.HistoryVersion)
	}
	return nil
}

// checkEvent refuses what no checker could make sense of.
func checkEvent(ev *lb.Event) error {
	switch ev.Kind {
	case lb.KindCall, lb.KindReturn:
		if ev.Op != lb.OpAcquire && ev.Op != lb.OpRelease {
			return fmt.Errorf("op %q is neither acquire nor release", ev.Op)
		}
		if ev.Client == "" || ev.ID == "" {
			return fmt.Errorf("a %s needs client and id", ev.Kind)
		}
		if ev.Kind == lb.KindCall {
			return nil
		}
		switch ev.Result {
		case lb.OK, lb.Fail, lb.Unknown, lb.Lost:
			return nil
		}
		return fmt.Errorf("result %q is not one of ok, fail, unknown, lost", ev.Result)
	case lb.KindRead, lb.KindWrite:
		if ev.Copies == nil {
			return fmt.Errorf("a %s needs copies", ev.Kind)
		}
		return nil
	case lb.KindRenew, lb.KindLost, lb.KindWake, lb.KindStep, lb.KindSilent, lb.KindDead, lb.KindFault, lb.KindEnd:
		return nil
	}
	return fmt.Errorf("unknown kind of event %q", ev.Kind)
}
