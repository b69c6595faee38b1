package history

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// Follower reads what recorders append to the files of a run while it goes on.
type Follower struct {
	dir string
	at  map[string]int64 // how far each file has been read, in bytes
	by  map[string]*hostClock
}

// Follow follows the recorders whose files are in dir, from the beginning.
func Follow(dir string) *Follower {
	return &Follower{dir: dir, at: map[string]int64{}, by: map[string]*hostClock{}}
}

// Next returns the events that were recorded since the last call, ordered by time.
// An event that is still being written waits for the next call.
func (f *Follower) Next() (Events, error) {
	files, err := filepath.Glob(filepath.Join(f.dir, "*.jsonl"))
	if err != nil {
		return nil, fmt.Errorf("follow the history: %w", err)
	}
	var all Events
	for _, name := range files {
		h, err := f.read(name)
		if err != nil {
			return nil, err
		}
		all = append(all, h...)
	}
	slices.SortStableFunc(all, func(a, b Event) int { return cmp.Compare(a.At, b.At) })
	return all, nil
}

func (f *Follower) read(name string) (h Events, err error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("follow the history: %w", err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.NewSectionReader(file, f.at[name], 1<<62))
	if err != nil {
		return nil, fmt.Errorf("follow the history: %w", err)
	}
	if end := bytes.IndexByte(text, 0); end >= 0 { // what the recorder has reserved
		text = text[:end]
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	first := f.at[name] == 0
	if first && len(text) > 0 {
		head, _, _ := bytes.Cut(text, []byte("\n"))
		own, err := parseHeader(bytes.TrimSpace(head))
		if err != nil {
			return nil, fmt.Errorf("follow %s: %w", name, err)
		}
		if own.unknown { // as yet
			return nil, nil
		}
		f.by[name] = &own
	}
	f.at[name] += int64(len(text))
	var p parser
	for n, line := range bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) {
		if len(line) == 0 || first && n == 0 {
			continue
		}
		var ev Event
		err := p.event(line, &ev)
		if err == nil {
			err = f.by[name].reckon(&ev)
		}
		if err != nil {
			return nil, fmt.Errorf("follow %s: %w", name, err)
		}
		h = append(h, ev)
	}
	return h, nil
}
