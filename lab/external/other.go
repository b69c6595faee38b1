//go:build !linux

package external

import (
	"context"
	"errors"
	"os/exec"

	"github.com/lockbench/lockbench/lab"
)

var errNotLinux = errors.New("the hosts of workers are namespaces of Linux: run lockbench there")

func (c *config) enter(context.Context, *exec.Cmd) (*lab.Launcher, func() error, error) {
	return nil, nil, errNotLinux
}

func (c *config) open(context.Context) (lab.Lab, error) { return nil, errNotLinux }
