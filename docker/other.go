//go:build !linux

package docker

import (
	"context"
	"errors"
	"os/exec"

	"github.com/lockbench/lockbench/lab"
)

var errNotLinux = errors.New("docker: containers are entered as Linux does it: run lockbench where the engine is")

// Enter always fails here.
func Enter(context.Context, *exec.Cmd) (*lab.Launcher, func() error, error) {
	return nil, nil, errNotLinux
}

// Open always fails here.
func Open(context.Context) (lab.Lab, error) { return nil, errNotLinux }

func ask(context.Context, lab.Kind, []string) ([]byte, error) { return nil, errNotLinux }
