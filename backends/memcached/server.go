package memcached

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lockbench/lockbench/lab"
)

// program goes on as root where it was started as root, which it does only if it is told to.
func program(lab.Host, []lab.Host) lab.Program {
	return lab.Program{
		Argv:  []string{"memcached", "-u", "root", "-l", "{addr}", "-p", "{port}"},
		Port:  11211,
		Ready: func(ctx context.Context, endpoint string) error { return on(ctx, endpoint, answers) },
	}
}

// answers asks for the version, which needs nothing that is stored.
func answers(ctx context.Context, c *Conn) error {
	_, err := version(ctx, c)
	return err
}

func version(ctx context.Context, c *Conn) (string, error) {
	line, err := c.Ask(ctx, "version")
	number, ok := strings.CutPrefix(line, "VERSION ")
	if err == nil && !ok {
		err = fmt.Errorf("%w: asked for its version it says %q", lab.ErrOther, line)
	}
	return number, err
}

// clock reads the server's wall clock from its log of events: the time that its statistics tell is counted from the
// start by the monotonic clock. The event is a connection.
func clock(ctx context.Context, endpoint string) (now time.Time, err error) {
	err = on(ctx, endpoint, func(ctx context.Context, log *Conn) error {
		said, err := log.Ask(ctx, "watch connevents")
		if err == nil && said != "OK" {
			err = fmt.Errorf("%w: it says %q", lab.ErrOther, said)
		}
		if err != nil {
			return fmt.Errorf("watch its events: %w", err)
		}
		return on(ctx, endpoint, func(ctx context.Context, _ *Conn) error {
			line, err := log.line(ctx)
			if err != nil {
				return err
			}
			stamp, _, _ := strings.Cut(strings.TrimPrefix(line, "ts="), " ")
			seconds, err := strconv.ParseFloat(stamp, 64)
			if err != nil {
				return fmt.Errorf("an event without its time: %q", line)
			}
			now = time.UnixMicro(int64(seconds * 1e6))
			return nil
		})
	})
	return now, err
}
