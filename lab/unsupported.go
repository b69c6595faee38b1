//go:build !linux

package lab

import (
	"context"
	"errors"
	"os/exec"
)

var errNotLinux = errors.New("labs are made of Linux namespaces: run lockbench in a Linux machine, a virtual one as well")

// Isolate does nothing where there are no namespaces.
func Isolate(*exec.Cmd) {}

// openLocal always fails here.
func openLocal() (Lab, error) { return nil, errNotLinux }

// Confined always fails here.
func Confined([]string) error { return errNotLinux }

// Idle always fails here.
func Idle() error { return errNotLinux }

// Probe always fails here.
func Probe(context.Context) error { return errNotLinux }

// canIsolate says why there is no local lab here.
func canIsolate(context.Context, *exec.Cmd) error { return errNotLinux }

// hasTap always fails here.
func hasTap() error { return errNotLinux }

// hasTimeNamespaces always fails here.
func hasTimeNamespaces() error { return errNotLinux }
