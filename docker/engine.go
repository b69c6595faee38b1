package docker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/moby/moby/client"
	"github.com/moby/moby/client/pkg/versions"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"
)

// minAPI is the oldest engine interface that the lab is tested with: that of
// engine 20.10.
const minAPI = "1.41"

// Check says why the lab can't run containers of these images, each as a
// [lab.Kind] names it, right now, without pulling anything; nil if it can.
func Check(ctx context.Context, images ...string) error {
	engine, err := connect(ctx)
	if err != nil {
		return err
	}
	defer engine.Close()
	if err := errors.Join(beside(engine), contained()); err != nil {
		return err
	}
	for _, image := range images {
		if _, err := resolve(ctx, engine, image); err != nil {
			return fmt.Errorf("docker: %w", err)
		}
	}
	return nil
}

// Image is the name of what the engine has for the image, as a [lab.Kind] names it.
func Image(ctx context.Context, image string) (string, error) {
	engine, err := connect(ctx)
	if err != nil {
		return "", err
	}
	defer engine.Close()
	return resolve(ctx, engine, image)
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

// errElsewhere: its containers can't be entered from here.
var errElsewhere = errors.New("the engine is on another machine, in a virtual one, or lockbench itself is in a container: run lockbench where the engine runs")

// beside says why this process can't enter the engine's containers, or nil.
func beside(engine *client.Client) error {
	switch {
	case runtime.GOOS != "linux" || !local(engine):
		return fmt.Errorf("docker: %w", errElsewhere)
	case os.Geteuid() != 0:
		return errors.New("docker: to enter the containers of a lab takes root: run lockbench as root, or use the local lab, which does not need it")
	}
	return nil
}

// contained says why this program can't run in a container that has nothing, or nil.
func contained() error {
	info, _ := debug.ReadBuildInfo()
	if info != nil && slices.Contains(info.Settings, debug.BuildSetting{Key: "CGO_ENABLED", Value: "1"}) {
		return errors.New("docker: this lockbench was built with cgo, and its libraries are in no container: build it with CGO_ENABLED=0, as make does")
	}
	return nil
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

// local reports whether the engine is on this machine.
func local(engine *client.Client) bool { return strings.HasPrefix(engine.DaemonHost(), "unix:") }
