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

// OpenLocal always fails here.
func OpenLocal() (Lab, error) { return nil, errNotLinux }

// Probe always fails here.
func Probe(context.Context) error { return errNotLinux }

// CanIsolate says why there is no local lab here.
func CanIsolate(context.Context, *exec.Cmd) error { return errNotLinux }
