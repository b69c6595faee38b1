package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// hierarchies are the directories in which this machine has control groups: many of the
// first version, or one of the second, or both, in which case that one controls nothing that
// a kubelet asks for.
func hierarchies() (first, second []string, err error) {
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, nil, err
	}
	for line := range strings.Lines(string(data)) {
		mount, rest, _ := strings.Cut(line, " - ")
		fields := strings.Fields(mount)
		switch kind, _, _ := strings.Cut(rest, " "); {
		case kind == "cgroup" && len(fields) > 4:
			first = append(first, fields[4])
		case kind == "cgroup2" && len(fields) > 4:
			second = append(second, fields[4])
		}
	}
	if len(first)+len(second) == 0 {
		return nil, nil, errors.New("this machine has no control groups: mount -t cgroup2 cgroup /sys/fs/cgroup")
	}
	return first, second, nil
}

// makeGroups makes a control group in every hierarchy that counts.
func makeGroups(name string) error {
	roots, second, err := hierarchies()
	if err != nil {
		return err
	}
	if len(roots) == 0 {
		roots = second
	}
	for _, root := range roots {
		if err := makeGroup(filepath.Join(root, name)); err != nil {
			return err
		}
	}
	return nil
}

// makeGroup makes a group that can do what the one above it can. In the second version that one
// has to be asked for it; in the first, a group that is new has no processor to run on.
func makeGroup(group string) error {
	parent := filepath.Dir(group)
	if controllers, err := os.ReadFile(filepath.Join(parent, "cgroup.controllers")); err == nil {
		for _, controller := range strings.Fields(string(controllers)) {
			if err := os.WriteFile(filepath.Join(parent, "cgroup.subtree_control"), []byte("+"+controller), 0); err != nil {
				return fmt.Errorf("enable the controller %s for %s: %w", controller, group, err)
			}
		}
	}
	if err := os.Mkdir(group, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"cpuset.cpus", "cpuset.mems"} {
		value, err := os.ReadFile(filepath.Join(parent, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // another controller's hierarchy, or the second version's root
		}
		if err == nil && strings.TrimSpace(string(value)) != "" {
			err = os.WriteFile(filepath.Join(group, name), value, 0)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// removeGroups removes a control group, and those that containers had in it, from every
// hierarchy. A process leaves its group a moment after it has ended.
func removeGroups(name string) error {
	first, second, err := hierarchies()
	if err != nil {
		return err
	}
	for _, root := range append(first, second...) {
		deadline := time.Now().Add(10 * time.Second)
		for {
			err := removeTree(filepath.Join(root, name))
			if err == nil {
				break
			}
			if !errors.Is(err, syscall.EBUSY) || time.Now().After(deadline) {
				return err
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	return nil
}

// removeTree removes directories from the leaves on; the files in a control group go with it.
func removeTree(root string) error {
	var found []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && entry.IsDir() {
			found = append(found, path)
		}
		return err
	})
	for _, path := range slices.Backward(found) {
		if removeErr := syscall.Rmdir(path); removeErr != nil && !errors.Is(removeErr, fs.ErrNotExist) {
			err = errors.Join(err, &fs.PathError{Op: "rmdir", Path: path, Err: removeErr})
		}
	}
	return err
}
