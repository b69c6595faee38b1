package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// mutant is one small fault.
type mutant struct {
	file, name string
	old, new   []string // lines
	// equivalent says why no test can notice it, "" if one must.
	equivalent string
	// text is the file with the fault in it.
	text string
}

// readList reads the list and plants each fault in its file below root. Each old text
// must be there exactly once: a list that is not in step with the code proves nothing.
func readList(list, root string) ([]mutant, error) {
	text, err := os.ReadFile(list)
	if err != nil {
		return nil, err
	}
	mutants, err := parseList(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", list, err)
	}
	for i := range mutants {
		if e := mutants[i].plant(root); e != nil {
			err = errors.Join(err, e)
		}
	}
	return mutants, err
}

func (m *mutant) plant(root string) error {
	text, err := os.ReadFile(filepath.Join(root, m.file))
	if err != nil {
		return err
	}
	old := strings.Join(m.old, "\n")
	if n := strings.Count(string(text), old); n != 1 {
		return fmt.Errorf("%s: %s: the old text is there %d times, and must be once: the list is not in step with the code", m.file, m.name, n)
	}
	m.text = strings.Replace(string(text), old, strings.Join(m.new, "\n"), 1)
	return nil
}

// parseList reads the list. An entry is some lines up to an empty one: its name, the old
// text behind "- ", the new text behind "+ ", and if no test can notice it, why, behind
// "= ". A line "== FILE" says where the entries below it belong, and # begins a comment.
func parseList(text string) (mutants []mutant, err error) {
	file, names := "", map[string]bool{}
	var m *mutant
	for n, line := range strings.Split(text, "\n") {
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case line == "":
			m = nil
		case word[0] == '#':
		case word == "==":
			file, m = strings.TrimSpace(rest), nil
		case word == "-" && m != nil:
			m.old = append(m.old, rest)
		case word == "+" && m != nil:
			m.new = append(m.new, rest)
		case word == "=" && m != nil:
			m.equivalent = strings.TrimSpace(m.equivalent + " " + rest)
		case m != nil || file == "" || names[file+line]:
			return nil, fmt.Errorf("line %d: a second name, no file, or a name that is there twice: %q", n+1, line)
		default:
			names[file+line] = true
			mutants = append(mutants, mutant{file: file, name: line})
			m = &mutants[len(mutants)-1]
		}
	}
	for _, m := range mutants {
		if strings.Join(m.old, "\n") == strings.Join(m.new, "\n") {
			return nil, fmt.Errorf("%s: %s: changes nothing", m.file, m.name)
		}
	}
	return mutants, nil
}
