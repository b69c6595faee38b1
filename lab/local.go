package lab

import (
	"context"
	"errors"
	"os"
	"os/exec"
)

// Local is the lab in namespaces of this machine.
func Local() Driver {
	return Driver{
		Name: "local", Doc: "network, mount and PID namespaces of this machine", Inside: true,
		Open: func(context.Context, string) (Lab, error) { return openLocal() },
		Ready: func(ctx context.Context, kinds []Kind) (err error) {
			for _, k := range kinds {
				err = errors.Join(err, k.Missing())
			}
			self, e := os.Executable()
			if e != nil {
				return errors.Join(err, e)
			}
			return errors.Join(err, canIsolate(ctx, exec.CommandContext(ctx, self, "probe")))
		},
	}
}
