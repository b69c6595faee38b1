package docker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"time"

	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go/network"

	"github.com/lockbench/lockbench/lab"
)

// variable tells the process inside of a lab which one it is in.
const variable = "LOCKBENCH_LAB"

// leaveBound is how long removing a lab may take.
const leaveBound = time.Minute

// Enter implements [lab.Driver]: the command finds itself on the network of a lab of its
// own.
func Enter(ctx context.Context, cmd *exec.Cmd) (thread *lab.Launcher, leave func() error, err error) {
	engine, err := connect(ctx)
	if err != nil {
		return nil, nil, err
	}
	g := &ground{engine: engine, id: rand.Text()[:8]}
	g.labels = self().labels(g.id)
	leave = func() error { return errors.Join(g.remove(), engine.Close()) }
	made, err := network.New(ctx, network.WithInternal(), network.WithLabels(g.labels))
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("docker: make a network: %w; "+
			"if the engine has no addresses left, `lockbench clean` or `docker network prune` frees some", err), leave())
	}
	g.network = made.Name
	runner, err := g.make(ctx, "runner", "")
	if err == nil {
		thread, err = lab.NewLauncher(lab.EnterOf(runner.pid, lab.OnlyNetwork))
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("docker: %w", err), leave())
	}
	lab.Detach(cmd)
	cmd.Env = append(os.Environ(), variable+"="+g.id)
	return thread, leave, nil
}

// Open implements [lab.Driver]: the lab that this process is in.
func Open(ctx context.Context) (lab.Lab, error) {
	engine, err := connect(ctx)
	if err != nil {
		return nil, err
	}
	g := &ground{engine: engine, id: os.Getenv(variable)}
	subnet, err := g.find(ctx)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("docker: open the lab %s: %w", g.id, err), engine.Close())
	}
	if err := lab.AwaitCarrier("eth0"); err != nil {
		return nil, errors.Join(err, engine.Close())
	}
	return lab.On(lab.Ground{Make: g.host, Net: subnet, Virtual: last(subnet), Uplink: "eth0", Close: engine.Close}), nil
}

// ground is the network of a lab and the containers on it.
type ground struct {
	engine  *client.Client
	id      string
	network string // its name
	labels  map[string]string
}

// find reads the network's properties back.
func (g *ground) find(ctx context.Context) (subnet net.IPNet, err error) {
	all, err := g.engine.NetworkList(ctx, client.NetworkListOptions{Filters: g.mine()})
	if err != nil {
		return subnet, err
	}
	for _, n := range all.Items {
		g.network, g.labels = n.Name, n.Labels
		for _, c := range n.IPAM.Config {
			if c.Subnet.Addr().Is4() {
				mask := net.CIDRMask(c.Subnet.Bits(), 32)
				return net.IPNet{IP: c.Subnet.Addr().AsSlice(), Mask: mask}, nil
			}
		}
	}
	return subnet, errors.New("it has no network of version 4")
}

// last is the network's last address: the engine gives them out from the first on.
func last(n net.IPNet) net.IP {
	ip := make(net.IP, net.IPv4len)
	for i, b := range n.IP.To4() {
		ip[i] = b | ^n.Mask[i]
	}
	ip[3]--
	return ip
}

// host makes a host of the lab.
func (g *ground) host(ctx context.Context, _ int, name, image string) (lab.Space, error) {
	var none lab.Space
	made, err := g.make(ctx, name, image)
	if err != nil {
		return none, err
	}
	thread, err := lab.NewLauncher(lab.EnterOf(made.pid, lab.Container))
	if err != nil {
		return none, err
	}
	if err := thread.Do(func() error { return lab.AwaitCarrier("eth0") }); err != nil {
		thread.Close()
		return none, err
	}
	return lab.Space{Thread: thread, Addr: made.addr, Contained: true, Env: made.env}, nil
}

// mine are the lab's own things.
func (g *ground) mine() client.Filters {
	return make(client.Filters).Add("label", labelLab+"="+g.id)
}

// remove removes them, whatever they are doing.
func (g *ground) remove() error {
	ctx, cancel := context.WithTimeout(context.Background(), leaveBound)
	defer cancel()
	_, err := removeAll(ctx, g.engine, g.mine(), func(map[string]string) bool { return true })
	return err
}
