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
		Name: "local", Doc: "network, mount and PID namespaces of this machine",
		Enter: func(_ context.Context, cmd *exec.Cmd) (*Launcher, func() error, error) {
			Isolate(cmd)
			// From a thread of its own: the kernel kills the lab when the thread that
			// started it ends, and Go ends threads as it likes.
			thread, err := NewLauncher(nil)
			return thread, func() error { return nil }, err
		},
		Open: func(context.Context) (Lab, error) { return openLocal() },
		Ask: func(ctx context.Context, _ Kind, argv []string) ([]byte, error) {
			argv, err := Resolve(argv)
			if err != nil {
				return nil, err
			}
			return exec.CommandContext(ctx, argv[0], argv[1:]...).Output()
		},
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
		Claims: []Ability{Packets, ServerClocks, ClientClocks, OwnDisk, StallDisk, FullDisk, OwnServers, ClientHosts, Strike, Distance, OwnClocks, Programs, MovingAddress},
		Lacks: map[Ability]string{
			OwnImages: "its servers are programs of this machine; name another one with --server-binary SOFTWARE=PATH, or use --lab docker",
		},
	}
}
