// Package history reads and writes the event files that docs/history.md
// describes. It knows the format, not the meaning: that is the checkers' work.
package history

import (
	"bufio"
	"bytes"
	"cmp"
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

// errEmpty is a file in which not even the header was finished.
var errEmpty = errors.New("the file is empty; a history begins with " + strings.TrimSpace(header))

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
	h, notes, err := readEvents(dir)
	if err != nil {
		return nil, nil, err
	}
	return h, append([]string{"the run ended before its history was merged; read from " + Dir + "/"}, notes...), nil
}

// readEvents reads the recorders' own files.
func readEvents(dir string) (all lb.History, notes []string, err error) {
	files, err := filepath.Glob(filepath.Join(dir, Dir, "*.jsonl"))
	if err != nil || len(files) == 0 {
		return nil, nil, fmt.Errorf("history: %s holds neither %s nor %s/*.jsonl: is it the directory of a run?", dir, File, Dir)
	}
	slices.Sort(files)
	for _, file := range files {
		h, n, err := Read(file)
		switch {
		case errors.Is(err, errEmpty):
			n = []string{file + ": nothing was recorded"}
		case err != nil:
			return nil, nil, err
		}
		all, notes = append(all, h...), append(notes, n...)
	}
	sortByTime(all)
	return all, notes, nil
}

// Merge writes the merged history of a run's directory and returns the notes on
// what could not be read of it: a line that a killed recorder left unfinished.
func Merge(dir string) (notes []string, err error) {
	h, notes, err := readEvents(dir)
	if err != nil {
		return nil, err
	}
	tmp := filepath.Join(dir, File+".tmp")
	if err := Write(tmp, h); err != nil {
		return nil, err
	}
	if err := os.Rename(tmp, filepath.Join(dir, File)); err != nil {
		return nil, fmt.Errorf("history: merge: %w", err)
	}
	return notes, nil
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
	slices.SortStableFunc(h, func(a, b lb.Event) int { return cmp.Compare(a.At, b.At) })
}

// Parse reads events from r in the order of the lines; name is used in errors.
func Parse(r io.Reader, name string) (lb.History, []string, error) {
	var h lb.History
	words := words{}
	in := bufio.NewReaderSize(r, 1<<16)
	for n := 1; ; n++ {
		line, end, err := readLine(in)
		switch {
		case err != nil:
			return nil, nil, &LineError{name, n, err}
		case end && n == 1 && unfinished(line):
			return nil, nil, &LineError{name, 1, errEmpty}
		case bytes.Equal(line, killedMark):
			return h, []string{fmt.Sprintf("%s: the recorder was killed; the file ends with line %d", name, n-1)}, nil
		}
		ev, skip, err := parseLine(n, bytes.TrimSpace(line))
		switch {
		case err != nil && end && n > 1:
			return h, []string{fmt.Sprintf("%s:%d: the last line was cut short and is left out", name, n)}, nil
		case err != nil:
			return nil, nil, &LineError{name, n, err}
		case !skip:
			words.share(&ev)
			h = append(h, ev)
		}
		if end {
			return h, nil, nil
		}
	}
}

// unfinished reports whether a first line is less than a header.
func unfinished(line []byte) bool {
	line, killed := bytes.CutSuffix(line, killedMark)
	return strings.HasPrefix(header, string(line)) && (killed || len(line) < len(header)-1)
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
