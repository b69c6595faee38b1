// Package natsserver is the NATS server as a part of this program: no package of a distribution and no image is
// needed to run one.
package natsserver

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/lockbench/lockbench/internal/clock"
	"github.com/nats-io/nats-server/v2/server"
)

// Serve runs one NATS server until ctx ends. args are the flags of NATS's own program.
func Serve(ctx context.Context, args []string) error {
	if file := os.Getenv(clock.FileVar); file != "" {
		if err := clock.Follow(file); err != nil {
			return fmt.Errorf("move the clock: %w", err)
		}
	}
	nothing := func() {} // the texts of its flags -v and -h are for its own program
	options, err := server.ConfigureOptions(flag.NewFlagSet("nats-server", flag.ContinueOnError), args, nothing, nothing, nothing)
	if err != nil {
		return err
	}
	options.NoSigs = true // ctx ends with them
	s, err := server.NewServer(options)
	if err != nil {
		return err
	}
	s.ConfigureLogger()
	s.Start()
	ended := make(chan struct{})
	go func() {
		s.WaitForShutdown()
		close(ended)
	}()
	select {
	case <-ctx.Done():
		s.Shutdown()
		<-ended
		return nil
	case <-ended:
		return errors.New("nats-server has ended by itself; its log says why")
	}
}
