//go:build !linux

package lab

import (
	"context"
	"errors"
	"os/exec"
)

const virtualAddr = ""

var errNotLinux = errors.New("lab: the local lab needs Linux namespaces; on this system use --lab docker")

// Isolate does nothing where there are no namespaces.
func Isolate(*exec.Cmd) {}

// openLocal always fails here.
func openLocal() (Lab, error) { return nil, errNotLinux }

// Probe always fails here.
func Probe(context.Context) error { return errNotLinux }

// canIsolate says why there is no local lab here.
func canIsolate(context.Context, *exec.Cmd) error { return errNotLinux }
