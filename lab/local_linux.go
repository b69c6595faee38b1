package lab

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

const bridge = "lockbench0"

// local is the lab on this machine: every host is a network namespace on a
// bridge that leads nowhere. The addresses are those reserved for documentation
// (RFC 5737), so that a packet that got out would have nowhere to go.
type local struct {
	mu    sync.Mutex
	br    *netlink.Bridge
	hosts []*localHost
}

// openLocal opens the local lab. The calling process must have been started by
// way of [Isolate].
func openLocal() (Lab, error) {
	if err := settle(); err != nil {
		return nil, err
	}
	l := &local{br: &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: bridge}}}
	if err := errors.Join(linkUp("lo"), netlink.LinkAdd(l.br)); err != nil {
		return nil, fmt.Errorf("lab: make the bridge: %w", err)
	}
	if err := errors.Join(giveAddr(bridge, hostAddr(0)), linkUp(bridge)); err != nil {
		return nil, fmt.Errorf("lab: make the bridge: %w", err)
	}
	return l, nil
}

// virtualAddr is the address that moves between servers.
const virtualAddr = "198.51.100.250"

func hostAddr(n int) net.IP { return net.IPv4(198, 51, 100, byte(n+1)) }

const maxHosts = 200

// Host implements [Lab].
func (l *local) Host(_ context.Context, name string) (Host, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.hosts) + 1
	if n > maxHosts {
		return nil, fmt.Errorf("lab: host %s: a lab has room for %d hosts", name, maxHosts)
	}
	thread, err := NewLauncher(func() error { return unix.Unshare(unix.CLONE_NEWNET) })
	if err != nil {
		return nil, fmt.Errorf("lab: host %s: new network namespace: %w", name, err)
	}
	h := &localHost{lab: l, name: name, addr: hostAddr(n), thread: thread}
	l.hosts = append(l.hosts, h)
	if err := l.plug(h, fmt.Sprintf("port%d", n)); err != nil {
		return nil, fmt.Errorf("lab: host %s: connect to the bridge: %w", name, err)
	}
	return h, nil
}

// plug runs a cable from the bridge to the host.
func (l *local) plug(h *localHost, port string) error {
	var ns *os.File
	if err := h.thread.Do(func() (err error) {
		ns, err = os.Open("/proc/thread-self/ns/net")
		return err
	}); err != nil {
		return err
	}
	defer ns.Close()
	cable := &netlink.Veth{
		LinkAttrs:     netlink.LinkAttrs{Name: port, MasterIndex: l.br.Index},
		PeerName:      "eth0",
		PeerNamespace: netlink.NsFd(ns.Fd()),
	}
	if err := errors.Join(netlink.LinkAdd(cable), linkUp(port)); err != nil {
		return err
	}
	if err := h.thread.Do(func() error {
		return errors.Join(linkUp("lo"), giveAddr("eth0", h.addr), linkUp("eth0"))
	}); err != nil {
		return err
	}
	return awaitCarrier(port)
}

// awaitCarrier waits until the bridge passes packets to the port. The kernel tells
// the bridge of a new cable up to a second late; a connection attempted before
// that loses its first packet and then waits for a second, too.
func awaitCarrier(port string) error {
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

// Network implements [Lab].
func (l *local) Network() Network { return (*localNetwork)(l) }

// Traffic implements [Meter]: the bridge itself counts only what is to or from this
// process's own address on it.
func (l *local) Traffic() (Traffic, error) {
	link, err := netlink.LinkByName(bridge)
	if err != nil {
		return Traffic{}, fmt.Errorf("lab: count the traffic: %w", err)
	}
	n := link.Attrs().Statistics
	if n == nil {
		return Traffic{}, errors.New("lab: count the traffic: this kernel does not")
	}
	return Traffic{Bytes: n.RxBytes + n.TxBytes, Packets: n.RxPackets + n.TxPackets}, nil
}

// Close implements [Lab]. The namespaces themselves end with the process.
func (l *local) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, h := range l.hosts {
		for _, p := range h.running {
			p.Kill()
		}
		h.thread.Close()
	}
	l.hosts = nil
	return nil
}

func (l *local) hostAt(addr string) (*localHost, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, h := range l.hosts {
		if h.Addr() == addr {
			return h, nil
		}
	}
	return nil, fmt.Errorf("lab: no host has the address %s", addr)
}

type localHost struct {
	lab     *local
	name    string
	addr    net.IP
	thread  *Launcher // lives in the host's network namespace
	running []*Child
	rules   int // made so far, for their names
	onDisk  bool
	taken   net.IP // from another host, nil for none
}

func (h *localHost) Name() string { return h.name }
func (h *localHost) Addr() string { return h.addr.String() }

// Dir is where programs on the host keep their data.
func (h *localHost) Dir() string { return filepath.Join(scratch, h.name) }

// Start implements [Host].
func (h *localHost) Start(ctx context.Context, p Program) (Process, error) {
	argv, err := Resolve(p.Argv)
	if err != nil {
		return nil, fmt.Errorf("lab: start %s: %w", h.name, err)
	}
	p.Argv = argv
	dir := h.Dir()
	if err := h.prepare(dir); err != nil {
		return nil, fmt.Errorf("lab: start %s: %w", h.name, err)
	}
	if p.Disk != "" && !h.onDisk {
		if err := bind(filepath.Join(p.Disk, h.name), dir); err != nil {
			return nil, fmt.Errorf("lab: start %s: keep its data on the disk: %w", h.name, err)
		}
		h.onDisk = true
	}
	if p.Fresh {
		if err := empty(dir); err != nil {
			return nil, fmt.Errorf("lab: start %s: %w", h.name, err)
		}
	}
	c, err := StartChild(ctx, h.thread, Place{h.name, h.Addr(), dir}, p)
	if err != nil {
		return nil, err
	}
	h.running = append(h.running, c)
	return c, nil
}

// prepare makes the directory for data, with a disk of its own behind it.
func (h *localHost) prepare(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return mountDisk(dir)
}

// bind makes a directory of the disk appear at another path, which the lab's names keep
// short: a server's socket has no room for a long one.
func bind(disk, at string) error {
	if err := os.MkdirAll(disk, 0o755); err != nil {
		return err
	}
	return unix.Mount(disk, at, "", unix.MS_BIND, "")
}

// empty removes what is in a directory, which may be a mount and can't go itself.
func empty(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
	return err
}

// TakeAddr moves an address to this host from whichever has it. The others forget
// where it was, as a gratuitous ARP would make them.
func (h *localHost) TakeAddr(addr string) error {
	ip := net.ParseIP(addr)
	h.lab.mu.Lock()
	defer h.lab.mu.Unlock()
	for _, other := range h.lab.hosts {
		if ip.Equal(other.taken) {
			other.taken = nil
		}
		if err := other.thread.Do(func() error { return forget(ip) }); err != nil {
			return fmt.Errorf("lab: take %s from %s: %w", addr, other.name, err)
		}
	}
	if err := h.thread.Do(func() error { return giveAddr("eth0", ip) }); err != nil {
		return fmt.Errorf("lab: give %s to %s: %w", addr, h.name, err)
	}
	h.taken = ip
	return nil
}

// forget removes the address from eth0 and from the neighbours behind it.
func forget(ip net.IP) error {
	link, err := netlink.LinkByName("eth0")
	if err != nil {
		return err
	}
	own, err := netlink.AddrList(link, netlink.FAMILY_V4)
	if err != nil {
		return err
	}
	for _, a := range own {
		if a.IP.Equal(ip) {
			err = errors.Join(err, netlink.AddrDel(link, &a))
		}
	}
	near, listErr := netlink.NeighList(link.Attrs().Index, netlink.FAMILY_V4)
	for _, n := range near {
		if n.IP.Equal(ip) {
			err = errors.Join(err, netlink.NeighDel(&n))
		}
	}
	return errors.Join(err, listErr)
}

func linkUp(name string) error {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return fmt.Errorf("find %s: %w", name, err)
	}
	return netlink.LinkSetUp(link)
}

func giveAddr(name string, ip net.IP) error {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return fmt.Errorf("find %s: %w", name, err)
	}
	return netlink.AddrAdd(link, &netlink.Addr{IPNet: &net.IPNet{IP: ip, Mask: net.CIDRMask(24, 32)}})
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
			"run as root, allow unprivileged user namespaces, or start the container with --privileged", err)
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("user namespaces are switched off here (%w): set the sysctl user.max_user_namespaces above 0, or run as root", err)
	}
	return fmt.Errorf("the trial lab failed: %w: %s", err, out)
}
