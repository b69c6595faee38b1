package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Place is a host as a child process sees it: its name, its address, and a
// directory for the data of what runs there, which exists.
type Place struct {
	Name, Addr, Dir string
	// Contained: the launcher's thread has files and process ids of its own. What is built
	// into lockbench is not looked for there, but what the place brings itself.
	Contained bool
	// Env is the environment before the program's own is added, where the place is contained.
	Env []string
}

// confined is the verb of [Confined].
const confined = "confined"

// command is the whole of one: verbs of lockbench, each of which becomes what follows, and
// at last the program.
func (at Place) command(p Program, argv []string) ([]string, error) {
	var err error
	before := p.Before
	switch {
	case at.Contained:
		argv, err = at.inside(argv)
	case p.Builtin:
		argv = append([]string{Self}, argv...)
	default:
		argv, err = Resolve(argv)
	}
	if err != nil {
		return nil, err
	}
	if at.Contained {
		before = append([]string{confined}, before...)
	}
	self, err := at.self()
	if err != nil {
		return nil, err
	}
	if argv[0] == Self {
		argv = append([]string{self}, argv[1:]...)
	}
	for _, verb := range slices.Backward(before) {
		argv = append([]string{self, verb}, argv...)
	}
	return argv, nil
}

// environment is what programs find, but for their own. Nothing of this machine's gets into
// a container; an image that names no path has the one that engines give it.
func (at Place) environment() []string {
	if !at.Contained {
		return os.Environ()
	}
	return append([]string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}, at.Env...)
}

// self is where this program's file is. In a container there is none of it; but who is
// about to become another program can have the one that it is.
func (at Place) self() (string, error) {
	if at.Contained {
		return "/proc/self/exe", nil
	}
	file, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program's file: %w", err)
	}
	return file, nil
}

// inside finds the program of a command in a container, by the container's own path.
func (at Place) inside(argv []string) ([]string, error) {
	if argv[0] == Self || strings.Contains(argv[0], "/") {
		return append([]string{latest(argv[0])}, argv[1:]...), nil
	}
	var path string
	for _, v := range at.environment() {
		if dirs, ok := strings.CutPrefix(v, "PATH="); ok {
			path = dirs // the last counts
		}
	}
	for _, dir := range filepath.SplitList(path) {
		file := filepath.Join(dir, argv[0])
		if found, err := os.Stat(file); err == nil && found.Mode().IsRegular() && found.Mode()&0o111 != 0 {
			return append([]string{file}, argv[1:]...), nil
		}
	}
	return nil, fmt.Errorf("%s is %w in the image", argv[0], ErrMissing)
}
