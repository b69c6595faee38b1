package docker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	api "github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"

	"github.com/lockbench/lockbench/lab"
)

// everywhere is what a program in a container listens at: the engine forwards to
// an address that is not known before it runs.
const everywhere = "0.0.0.0"

// dataDir is the directory of a program in a container: one that every image has.
const dataDir = "/tmp"

// startContainer runs p in a new container under the host's name.
func (h *host) startContainer(ctx context.Context, p lab.Program) (*container, error) {
	fail := func(err error) (*container, error) {
		return nil, fmt.Errorf("docker: start %s: %w", h.name, err)
	}
	if err := h.fits(p); err != nil {
		return fail(err)
	}
	image, err := provide(ctx, h.lab.engine, p.Image)
	if err != nil {
		return fail(err)
	}
	request, err := h.request(image, p)
	if err != nil {
		return fail(err)
	}
	made, err := testcontainers.GenericContainer(ctx, request)
	if err != nil {
		if made != nil {
			err = errors.Join(err, h.discard(made.GetContainerID()))
		}
		return fail(err)
	}
	c, err := follow(h.lab.engine, h.name, made.GetContainerID(), p.Stdout, p.Log)
	if err != nil {
		return fail(errors.Join(err, h.discard(made.GetContainerID())))
	}
	h.containers = append(h.containers, c)
	if err := h.await(ctx, made, c, p); err != nil {
		return fail(errors.Join(err, h.discard(c.id)))
	}
	return c, nil
}

// fits says why p can't run in a container of this host.
func (h *host) fits(p lab.Program) error {
	switch {
	case p.Port == 0:
		return errors.New("a program in a container is only reached by its port, and it has none")
	case p.Stdin != nil || p.Reports != nil:
		return errors.New("a program in a container has no standard input or other pipe here")
	case len(h.containers) == 0:
		return nil
	}
	// The end of the last one may have been asked for, but not yet seen.
	select {
	case <-h.containers[len(h.containers)-1].done:
		return nil
	case <-time.After(time.Second):
		return errors.New("a container runs one program, and the last one has not ended")
	}
}

// request describes the container of p. The image's own entrypoint is left out:
// what it does, from changing users to starting a second server, is not the
// program's.
func (h *host) request(image string, p lab.Program) (testcontainers.GenericContainerRequest, error) {
	var none testcontainers.GenericContainerRequest
	expand := p.Expander(everywhere, p.Port, dataDir)
	argv, err := expand.Argv()
	if err != nil {
		return none, err
	}
	var files []testcontainers.ContainerFile
	for name, text := range p.Files {
		files = append(files, testcontainers.ContainerFile{
			Reader: strings.NewReader(expand.Replace(text)), ContainerFilePath: dataDir + "/" + name, FileMode: 0o644,
		})
	}
	port, err := network.ParsePort(strconv.Itoa(p.Port) + "/tcp")
	if err != nil {
		return none, err
	}
	binding := network.PortBinding{HostPort: strconv.Itoa(h.ports[p.Port])} // 0: any
	if h.lab.publishAt != "" {
		binding.HostIP = netip.MustParseAddr(h.lab.publishAt)
	}
	return testcontainers.GenericContainerRequest{
		Started: true,
		Logger:  log.NewNoopLogger(),
		ContainerRequest: testcontainers.ContainerRequest{
			Image:          image,
			Files:          files,
			Entrypoint:     argv[:1],
			Cmd:            argv[1:],
			Labels:         h.lab.owner.labels(),
			ExposedPorts:   []string{port.String()},
			Networks:       []string{h.lab.network.Name},
			NetworkAliases: map[string][]string{h.lab.network.Name: {h.name}},
			ConfigModifier: func(c *api.Config) { c.Hostname = h.name },
			HostConfigModifier: func(c *api.HostConfig) {
				c.PortBindings = network.PortMap{port: {binding}}
			},
		},
	}, nil
}

// await finds out where c is reached and waits until it answers there.
func (h *host) await(ctx context.Context, made testcontainers.Container, c *container, p lab.Program) error {
	endpoint, err := made.PortEndpoint(ctx, strconv.Itoa(p.Port)+"/tcp", "")
	if err == nil {
		c.endpoint = endpoint
		h.ports[p.Port], err = published(endpoint)
	}
	if err == nil {
		err = lab.AwaitReady(ctx, p, endpoint, c.done)
	}
	if err == nil {
		return nil
	}
	// A program that ends at once has no port any more; how it ended says more.
	select {
	case <-c.done:
		return fmt.Errorf("%s: %w (it ended with: %v)", p.Argv[0], err, c.err)
	case <-time.After(time.Second):
		return fmt.Errorf("%s: %w", p.Argv[0], err)
	}
}

// published is the port of an endpoint.
func published(endpoint string) (int, error) {
	_, port, err := net.SplitHostPort(endpoint)
	if err != nil {
		return 0, fmt.Errorf("where it is published: %w", err)
	}
	return strconv.Atoi(port)
}

// discard removes a container that was made in vain, even if the caller's
// context has ended.
func (h *host) discard(id string) error {
	ctx, cancel := context.WithTimeout(context.Background(), callBound)
	defer cancel()
	return removeContainer(ctx, h.lab.engine, id)
}
