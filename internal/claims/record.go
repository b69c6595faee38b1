package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// record is what commands gave when they were run last: docs/claims.json.
type record struct {
	Commands map[string]*ran `json:"commands"`
}

// ran is one command's run.
type ran struct {
	Date    string `json:"date"`
	Seconds int    `json:"seconds"`
	Facts   *facts `json:"facts"`
}

// of are the facts of a command, nil where it was not run.
func (r *record) of(command string) *facts {
	if x := r.Commands[command]; x != nil {
		return x.Facts
	}
	return nil
}

// readRecord reads it; where there is none, nothing was run.
func readRecord(path string) (*record, error) {
	r := &record{Commands: map[string]*ran{}}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(text, r)
	}
	if err != nil {
		return nil, fmt.Errorf("read the outcomes: %s: %w", path, err)
	}
	return r, nil
}

// forget drops what no statement needs any more.
func (r *record) forget(docs []document) {
	all := commands(docs)
	for c := range r.Commands {
		if !slices.Contains(all, c) {
			delete(r.Commands, c)
		}
	}
}

// save writes a line for each command, so that a difference shows which were run again.
func (r *record) save(path string) error {
	var b bytes.Buffer
	b.WriteString("{\"commands\": {\n")
	sorted := make([]string, 0, len(r.Commands))
	for c := range r.Commands {
		sorted = append(sorted, c)
	}
	slices.Sort(sorted)
	for i, c := range sorted {
		name, err := json.Marshal(c)
		if err != nil {
			return err
		}
		x, err := json.Marshal(r.Commands[c])
		if err != nil {
			return fmt.Errorf("keep the outcome of %s: %w", c, err)
		}
		end := ",\n"
		if i == len(sorted)-1 {
			end = "\n"
		}
		fmt.Fprintf(&b, "%s: %s%s", name, x, end)
	}
	b.WriteString("}}\n")
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("keep the outcomes: %w", err)
	}
	return nil
}
