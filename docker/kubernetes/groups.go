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
// first version, or else one of the second, which beside the first has nothing to say.
func hierarchies() ([]string, error) {
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	found := map[string][]string{}
	for line := range strings.Lines(string(data)) {
		mount, rest, _ := strings.Cut(line, " - ")
		kind, _, _ := strings.Cut(rest, " ")
		if fields := strings.Fields(mount); len(fields) > 4 {
			found[kind] = append(found[kind], fields[4])
		}
	}
	if len(found["cgroup"]) > 0 {
		return found["cgroup"], nil
	}
	if len(found["cgroup2"]) > 0 {
		return found["cgroup2"][:1], nil
	}
	return nil, errors.New("no control groups are mounted: mount -t cgroup2 cgroup /sys/fs/cgroup")
}

// makeGroups makes a control group for each node, in which its kubelet makes those of its pods.
func makeGroups(name string, nodes int) error {
	roots, err := hierarchies()
	if err != nil {
		return err
	}
	for _, root := range roots {
		group := filepath.Join(root, name)
		if err := makeGroup(group); err != nil {
			return err
		}
		for number := 1; number <= nodes; number++ {
			if err := makeGroup(filepath.Join(group, nodeName(number))); err != nil {
				return err
			}
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

// removeGroups removes what the containers of ended nodes had for control groups. A process
// leaves its group a moment after it has ended.
func removeGroups(name string) error {
	roots, err := hierarchies()
	if err != nil {
		return err
	}
	for _, root := range roots {
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
