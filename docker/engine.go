package docker

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/moby/moby/client"
	"github.com/moby/moby/client/pkg/versions"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"
)

// minAPI is the oldest engine interface that the lab is tested with: that of
// engine 20.10.
const minAPI = "1.41"

// loopback is where programs are published when the engine is on this machine.
const loopback = "127.0.0.1"

// Check says why the lab can't run containers of these kinds of images ("redis")
// right now, without pulling anything; nil if it can.
func Check(ctx context.Context, kinds ...string) error {
	engine, err := connect(ctx)
	if err != nil {
		return err
	}
	defer engine.Close()
	for _, kind := range kinds {
		if _, err := resolve(ctx, engine, kind); err != nil {
			return fmt.Errorf("docker: %w", err)
		}
	}
	return nil
}

// connect finds the engine the way testcontainers does: DOCKER_HOST, its
// properties file, the usual sockets.
func connect(ctx context.Context) (*client.Client, error) {
	if err := configure(); err != nil {
		return nil, err
	}
	found, err := testcontainers.NewDockerClientWithOpts(ctx)
	if err != nil {
		return nil, unreachable(err)
	}
	engine := found.Client
	ping, err := engine.Ping(ctx, client.PingOptions{NegotiateAPIVersion: true})
	if err == nil && versions.LessThan(ping.APIVersion, minAPI) {
		err = fmt.Errorf("it speaks API %s, and %s (engine 20.10) is needed", ping.APIVersion, minAPI)
	}
	if err != nil {
		engine.Close()
		return nil, unreachable(err)
	}
	return engine, nil
}

func unreachable(err error) error {
	return fmt.Errorf("docker: no usable container engine: %w; "+
		"start Docker 20.10 or newer, or point DOCKER_HOST at one that this user may use, or use the local lab", err)
}

// configure settles what testcontainers reads from the environment, once and
// before its first use.
//
// Its reaper (Ryuk) stays off: it is one more image to pull, which is impossible
// where there is no registry, and it would only see a crash after a while. This
// lab labels what it makes with its owner instead, and [Clean] removes what
// belongs to no living one.
func configure() error {
	log.SetDefault(log.NewNoopLogger()) // its banner belongs on nobody's terminal
	return os.Setenv("TESTCONTAINERS_RYUK_DISABLED", "true")
}

// publishAt is the address that an engine should publish ports at: loopback if
// it is on this machine; "" for all of its addresses if it is not, or if the
// user says how it is reached, which is for setups where its socket was handed
// into a container.
//
// Left alone, testcontainers takes a machine with a /.dockerenv for a container
// and dials its gateway, or else says "localhost", which may be ::1 first, where
// nothing is published.
func publishAt(engine *client.Client) (string, error) {
	const variable = "TESTCONTAINERS_HOST_OVERRIDE"
	switch host := os.Getenv(variable); {
	case host == loopback:
		return loopback, nil
	case host != "" || !local(engine):
		return "", nil
	}
	return loopback, os.Setenv(variable, loopback)
}

// local reports whether the engine is on this machine.
func local(engine *client.Client) bool { return strings.HasPrefix(engine.DaemonHost(), "unix:") }
