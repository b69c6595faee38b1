package external

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/lockbench/lockbench/lab"
)

// enter implements [lab.Driver]: the command is in a local lab, with a door.
func (c *config) enter(_ context.Context, cmd *exec.Cmd) (*lab.Launcher, func() error, error) {
	inside, outside, err := pair()
	if err != nil {
		return nil, nil, err
	}
	cmd.ExtraFiles = append(cmd.ExtraFiles, inside)
	const first = 3 // of the extra files
	cmd.Env = append(hidden(os.Environ()), doorVariable+"="+strconv.Itoa(first+len(cmd.ExtraFiles)-1))
	lab.Isolate(cmd)
	keeper, err := c.keep(outside)
	if err != nil {
		return nil, nil, errors.Join(err, inside.Close())
	}
	leave := func() error { return errors.Join(inside.Close(), keeper.close()) }
	thread, err := lab.NewLauncher(nil)
	if err != nil {
		return nil, nil, errors.Join(err, leave())
	}
	return thread, leave, nil
}

// open implements [lab.Driver], in the process that has entered.
func (c *config) open(ctx context.Context) (lab.Lab, error) {
	number, err := strconv.Atoi(os.Getenv(doorVariable))
	if err != nil {
		return nil, fmt.Errorf("there is no door: %w", err)
	}
	d, err := openDoor(number)
	if err != nil {
		return nil, err
	}
	on, err := lab.Local().Open(ctx)
	if err != nil {
		return nil, err
	}
	if len(c.Sentinels) > 0 {
		if err := everywhere(lab.Bridge); err != nil {
			return nil, errors.Join(err, on.Close())
		}
	}
	return &relayed{Lab: on, config: c, door: d, machines: map[string]lab.Host{}}, nil
}

// numbered is which of the hosts of a kind it is, by its name: redis2 is 1.
func numbered(name string) int {
	n, _ := strconv.Atoi(name[len(strings.TrimRight(name, "0123456789")):])
	return n - 1
}
