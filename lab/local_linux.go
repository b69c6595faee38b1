package lab

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Bridge is the interface of the process that opens the lab, to all of its hosts.
const Bridge = "lockbench0"

// local is the ground of the lab on this machine: every host is a network namespace on a
// bridge that leads nowhere. The addresses are those reserved for documentation
// (RFC 5737), so that a packet that got out would have nowhere to go.
type local struct {
	br *netlink.Bridge
	// roundTrip is how far the hosts that are made from now on are from each other and from this process.
	roundTrip time.Duration
}

// openLocal opens the local lab. The calling process must have been started by
// way of [Isolate].
func openLocal() (Lab, error) {
	if err := settle(); err != nil {
		return nil, err
	}
	// Without an address of its own a bridge takes that of one of its ports, now of this and now of that.
	own := net.HardwareAddr{2, 0, 198, 51, 100, 1}
	l := &local{br: &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: Bridge, HardwareAddr: own}}}
	if err := errors.Join(linkUp("lo"), netlink.LinkAdd(l.br)); err != nil {
		return nil, fmt.Errorf("make the bridge: %w", err)
	}
	net := net.IPNet{IP: net.IPv4(198, 51, 100, 0), Mask: net.CIDRMask(24, 32)}
	if err := errors.Join(giveAddr(Bridge, localAddr(0), net.Mask), linkUp(Bridge)); err != nil {
		return nil, fmt.Errorf("make the bridge: %w", err)
	}
	return On(Ground{Make: l.plug, Net: net, Virtual: localAddr(virtual), Uplink: Bridge,
		Stretch: func(roundTrip time.Duration) { l.roundTrip = roundTrip }}), nil
}

func localAddr(n int) net.IP { return net.IPv4(198, 51, 100, byte(n+1)) }

const (
	maxLocal = 200 // hosts
	virtual  = 249
)

// plug makes a network namespace and runs a cable from the bridge to it.
func (l *local) plug(_ context.Context, n int, _, _ string) (_ Space, err error) {
	var none Space
	if n > maxLocal {
		return none, fmt.Errorf("a lab has room for %d hosts", maxLocal)
	}
	thread, err := NewLauncher(func() error { return unix.Unshare(unix.CLONE_NEWNET) })
	if err != nil {
		return none, fmt.Errorf("new network namespace: %w", err)
	}
	defer func() {
		if err != nil {
			thread.Close()
		}
	}()
	var ns *os.File
	if err := thread.Do(func() (err error) {
		ns, err = os.Open("/proc/thread-self/ns/net")
		return err
	}); err != nil {
		return none, err
	}
	defer ns.Close()
	port, addr := fmt.Sprintf("port%d", n), localAddr(n)
	cable := func() error {
		return netlink.LinkAdd(&netlink.Veth{
			LinkAttrs:     netlink.LinkAttrs{Name: port, MasterIndex: l.br.Index},
			PeerName:      "eth0",
			PeerNamespace: netlink.NsFd(ns.Fd()),
		})
	}
	roundTrip := l.roundTrip
	if roundTrip > 0 {
		cable = func() error { return l.farCable(port, thread, roundTrip) }
	}
	if err := errors.Join(cable(), linkUp(port)); err != nil {
		return none, fmt.Errorf("connect to the bridge: %w", err)
	}
	if err := thread.Do(func() error {
		return errors.Join(linkUp("lo"), giveAddr("eth0", addr, net.CIDRMask(24, 32)), linkUp("eth0"))
	}); err != nil {
		return none, fmt.Errorf("connect to the bridge: %w", err)
	}
	if roundTrip > 0 { // such a cable has no carrier to wait for
		return Space{Thread: thread, Addr: addr}, nil
	}
	return Space{Thread: thread, Addr: addr}, AwaitCarrier(port)
}

// AwaitCarrier waits until the bridge passes packets to the port. The kernel tells
// the bridge of a new cable up to a second late; a connection attempted before
// that loses its first packet and then waits for a second, too.
func AwaitCarrier(port string) error {
	const bound = 5 * time.Second
	for start := time.Now(); ; time.Sleep(time.Millisecond) {
		link, err := netlink.LinkByName(port)
		if err != nil {
			return fmt.Errorf("find %s: %w", port, err)
		}
		if link.Attrs().OperState == netlink.OperUp {
			return nil
		}
		if time.Since(start) > bound {
			return fmt.Errorf("%s is still %v after %v", port, link.Attrs().OperState, bound)
		}
	}
}

func linkUp(name string) error {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return fmt.Errorf("find %s: %w", name, err)
	}
	return netlink.LinkSetUp(link)
}

func giveAddr(name string, ip net.IP, mask net.IPMask) error {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return fmt.Errorf("find %s: %w", name, err)
	}
	return netlink.AddrAdd(link, &netlink.Addr{IPNet: &net.IPNet{IP: ip, Mask: mask}})
}

// canIsolate reports why this machine can't run the local lab, or nil. It starts
// a lab of two hosts and cuts one from the other, since a kernel may allow some
// of what is needed and not the rest.
func canIsolate(ctx context.Context, probe *exec.Cmd) error {
	Isolate(probe)
	out, err := probe.CombinedOutput()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.EACCES):
		return fmt.Errorf("this kernel or container does not let this user make namespaces (%w): "+
			"run as root, or allow unprivileged user namespaces; start a container with --security-opt seccomp=unconfined, "+
			"or as root with --cap-add SYS_ADMIN --cap-add NET_ADMIN", err)
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("user namespaces are switched off here (%w): set the sysctl user.max_user_namespaces above 0, or run as root", err)
	}
	return fmt.Errorf("the trial lab failed: %w: %s", err, out)
}
