package docker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/moby/moby/api/pkg/stdcopy"
	api "github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/mount"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"
	"github.com/testcontainers/testcontainers-go/wait"

	"github.com/lockbench/lockbench/lab"
)

// made is a container that was started.
type made struct {
	pid  int // of its first process, as this machine sees it
	addr net.IP
	env  []string
}

// hostName is what a name must look like to be a container's, of at most longestName letters.
var hostName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)

const longestName = 63

// atHome is where this program's file is in a container.
const atHome = "/.lockbench"

// make starts a container from an image, as a [lab.Kind] names it, "" for an empty one, whose
// first process only waits: what the image itself would start is not wanted yet.
func (g *ground) make(ctx context.Context, name, of string) (m made, err error) {
	if len(name) > longestName || !hostName.MatchString(name) {
		return m, fmt.Errorf("%q: a name is made of a-z, 0-9 and inner hyphens", name)
	}
	image := emptyImage
	if of == "" {
		err = provideEmpty(ctx, g.engine)
	} else {
		image, err = resolve(ctx, g.engine, of)
	}
	if err != nil {
		return m, err
	}
	program, err := os.Executable()
	if err != nil {
		return m, err
	}
	c, err := testcontainers.GenericContainer(ctx, testcontainers.GenericContainerRequest{
		Started: true,
		Logger:  log.NewNoopLogger(),
		ContainerRequest: testcontainers.ContainerRequest{
			Name:       "lockbench-" + strings.ToLower(g.id) + "-" + name,
			Image:      image,
			Entrypoint: []string{atHome, "idle"},
			Cmd:        []string{},
			Env:        ours(),
			Labels:     maps.Clone(g.labels), // testcontainers adds its own
			Networks:   []string{g.network},
			ConfigModifier: func(c *api.Config) {
				c.Hostname, c.User = name, "0:0"
			},
			HostConfigModifier: func(c *api.HostConfig) {
				c.Mounts = []mount.Mount{{Type: mount.TypeBind, Source: program, Target: atHome, ReadOnly: true}}
				c.UsernsMode, c.SecurityOpt = "host", []string{"label=disable"} // as for who enters it
			},
		},
	})
	if err != nil {
		return m, err // what there is of it is removed with the lab
	}
	found, err := g.engine.ContainerInspect(ctx, c.GetContainerID(), client.ContainerInspectOptions{})
	if err != nil {
		return m, err
	}
	state, on := found.Container.State, found.Container.NetworkSettings.Networks[g.network]
	switch {
	case !state.Running:
		return m, fmt.Errorf("its container ended with exit code %d", state.ExitCode)
	case on == nil || len(found.Container.NetworkSettings.Networks) > 1:
		return m, errors.New("the engine has put its container on another network than the lab's")
	}
	if err := becomesOurs(state.Pid, program); err != nil {
		return m, err
	}
	return made{pid: state.Pid, addr: on.IPAddress.AsSlice(), env: found.Container.Config.Env}, nil
}

// becomesOurs makes sure that the process is what the container was started with. For a
// moment it is still the engine's, who started it; and where the engine counts processes
// elsewhere, in a virtual machine for example, it is anything or nothing.
func becomesOurs(pid int, program string) (err error) {
	const bound = 2 * time.Second
	for end := time.Now().Add(bound); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if err = isOurs(pid, program); err == nil {
			break
		}
	}
	return err
}

func isOurs(pid int, program string) error {
	theirs, err := os.Stat(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return errElsewhere
	}
	own, err := os.Stat(program)
	if err == nil && !os.SameFile(theirs, own) {
		return errElsewhere
	}
	return err
}

// ours are the variables that lockbench itself looks at.
func ours() map[string]string {
	all := map[string]string{}
	for _, v := range os.Environ() {
		if name, value, _ := strings.Cut(v, "="); strings.HasPrefix(name, "LOCKBENCH_") {
			all[name] = value
		}
	}
	return all
}

// callBound is how long one call to the engine may take, where nobody waits for it.
const callBound = 10 * time.Second

// ask implements [lab.Driver], in a container of its own.
func ask(ctx context.Context, k lab.Kind, argv []string) (said []byte, err error) {
	engine, err := connect(ctx)
	if err != nil {
		return nil, err
	}
	defer engine.Close()
	program := argv[:1]
	if strings.Contains(argv[0], "*") { // nobody looks it up in there
		program = []string{filepath.Base(argv[0])}
	}
	image, err := resolve(ctx, engine, k.Image)
	if err != nil {
		return nil, err
	}
	c, err := testcontainers.GenericContainer(ctx, testcontainers.GenericContainerRequest{
		Started: true,
		Logger:  log.NewNoopLogger(),
		ContainerRequest: testcontainers.ContainerRequest{
			Image: image, Entrypoint: program, Cmd: argv[1:], Labels: self().labels("question"),
			HostConfigModifier: func(c *api.HostConfig) { c.NetworkMode = "none" },
			WaitingFor:         wait.ForExit(),
		},
	})
	if c == nil {
		return nil, err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callBound)
		defer cancel()
		err = errors.Join(err, removeContainer(ctx, engine, c.GetContainerID()))
	}()
	if err != nil {
		return nil, err
	}
	found, err := engine.ContainerInspect(ctx, c.GetContainerID(), client.ContainerInspectOptions{})
	if err != nil {
		return nil, err
	}
	if code := found.Container.State.ExitCode; code != 0 {
		return nil, fmt.Errorf("%s ended with exit code %d", argv[0], code)
	}
	output, err := engine.ContainerLogs(ctx, c.GetContainerID(), client.ContainerLogsOptions{ShowStdout: true})
	if err != nil {
		return nil, err
	}
	defer output.Close()
	var out bytes.Buffer
	_, err = stdcopy.StdCopy(&out, io.Discard, output)
	return out.Bytes(), err
}
