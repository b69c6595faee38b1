package lab

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Ground is what a lab stands on whose hosts are namespaces of the kernel: how these are
// made, and the network that they are on. This process is on it, too.
type Ground struct {
	// Make makes the namespaces of the nth host, of several at once.
	Make func(ctx context.Context, n int, name, image string) (Space, error)
	// Net is the hosts' network, and Virtual an address there that none of them has.
	Net     net.IPNet
	Virtual net.IP
	// Uplink is this process's own interface there.
	Uplink string
	// Stretch puts the hosts that are made from then on so far from each other; nil where that can't be done.
	Stretch func(roundTrip time.Duration)
	// Close is called at the end, if it is not nil.
	Close func() error
}

// Space is the namespaces of a host.
type Space struct {
	// Thread lives in them.
	Thread *Launcher
	Addr   net.IP
	// Contained: they have files and process ids of their own, as a container has.
	Contained bool
	// Env is the environment of programs there, if they are contained.
	Env []string
}

// On is the lab on that ground.
func On(g Ground) Lab { return &grounded{Ground: g} }

// grounded implements [Lab].
type grounded struct {
	Ground
	mu    sync.Mutex
	made  int // hosts, or nearly so
	hosts []*host
}

// Host implements [Lab].
func (l *grounded) Host(ctx context.Context, name, image string) (Host, error) {
	l.mu.Lock()
	l.made++
	n := l.made
	l.mu.Unlock()
	s, err := l.Make(ctx, n, name, image)
	if err != nil {
		return nil, fmt.Errorf("host %s: %w", name, err)
	}
	h := &host{Space: s, lab: l, name: name}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hosts = append(l.hosts, h)
	return h, nil
}

// Network implements [Lab].
func (l *grounded) Network() Network { return (*droppable)(l) }

// VirtualAddr implements [Spare].
func (l *grounded) VirtualAddr() string { return l.Virtual.String() }

// Traffic implements [Meter]: what is to or from this process's own address.
func (l *grounded) Traffic() (Traffic, error) {
	link, err := netlink.LinkByName(l.Uplink)
	if err != nil {
		return Traffic{}, fmt.Errorf("count the traffic: %w", err)
	}
	n := link.Attrs().Statistics
	if n == nil {
		return Traffic{}, errors.New("count the traffic: this kernel does not")
	}
	return Traffic{Bytes: n.RxBytes + n.TxBytes, Packets: n.RxPackets + n.TxPackets}, nil
}

// Stretch implements [Stretchable].
func (l *grounded) Stretch(roundTrip time.Duration) error {
	if l.Ground.Stretch == nil {
		return errors.New("the lab's hosts can't be put far from each other")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Ground.Stretch(roundTrip)
	return nil
}

// Close implements [Lab].
func (l *grounded) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, h := range l.hosts {
		h.kill()
		h.Thread.Close()
	}
	l.hosts = nil
	if l.Ground.Close == nil {
		return nil
	}
	return l.Ground.Close()
}

func (l *grounded) hostAt(addr string) (*host, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, h := range l.hosts {
		if h.Addr() == addr {
			return h, nil
		}
	}
	return nil, fmt.Errorf("no host has the address %s", addr)
}

var (
	_ Spare     = (*grounded)(nil)
	_ Enterable = (*host)(nil)
	_ Mobile    = (*host)(nil)
	_ Timed     = (*host)(nil)
	_ Fillable  = (*host)(nil)
)

// host implements [Host].
type host struct {
	Space
	lab   *grounded
	name  string
	rules int    // made so far, for their names
	taken net.IP // from another host, nil for none

	ownClock bool

	mu      sync.Mutex // of what starting a program changes
	running []*Child
	sees    []string // of this machine's directories
	onDisk  bool

	overheard []*overheard
}

func (h *host) Name() string { return h.name }
func (h *host) Addr() string { return h.Space.Addr.String() }

// Dir is where programs on the host keep their data.
func (h *host) Dir() string { return filepath.Join(scratch, h.name) }

// Do runs f where the host's files are.
func (h *host) Do(f func() error) error { return h.Thread.Do(f) }

// Start implements [Host].
func (h *host) Start(ctx context.Context, p Program) (Process, error) {
	if err := h.prepare(p); err != nil {
		return nil, fmt.Errorf("start %s: %w", h.name, err)
	}
	at := Place{Name: h.name, Addr: h.Addr(), Dir: h.Dir(), Contained: h.Contained, Env: h.Env}
	c, err := StartChild(ctx, h.Thread, at, p)
	if err != nil {
		return nil, h.misplaced(err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.running = append(h.running, c)
	return c, nil
}

// kill ends all that was started here.
func (h *host) kill() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.running {
		p.Kill()
	}
	for _, o := range h.overheard {
		_ = o.packets.Close()
	}
}

// prepare makes the directory for data, with a disk of its own behind it, and shows the
// host what the program must see.
func (h *host) prepare(p Program) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.Do(func() error { return prepareDisk(h.Dir()) }); err != nil {
		return err
	}
	if p.Disk != "" && !h.onDisk {
		own := filepath.Join(p.Disk, h.name)
		if err := os.MkdirAll(own, 0o755); err != nil {
			return err
		}
		// The lab's own names are short: a server's socket has no room for a long one.
		if err := h.show(own, h.Dir()); err != nil {
			return fmt.Errorf("keep its data on the disk: %w", err)
		}
		h.onDisk = true
	}
	for _, dir := range p.Sees {
		if err := h.see(dir); err != nil {
			return fmt.Errorf("show it %s: %w", dir, err)
		}
	}
	if p.Fresh {
		return h.Do(func() error { return Empty(h.Dir(), p) })
	}
	return nil
}

// see shows a host that has files of its own a directory of this machine, at the same place.
func (h *host) see(dir string) error {
	if slices.Contains(h.sees, dir) {
		return nil
	}
	if h.Contained {
		if err := h.show(dir, dir); err != nil {
			return err
		}
	}
	h.sees = append(h.sees, dir)
	return nil
}

// show makes a directory of this machine appear on the host.
func (h *host) show(dir, at string) error {
	if !h.Contained {
		return unix.Mount(dir, at, "", unix.MS_BIND, "")
	}
	// From one namespace of files to another (since Linux 5.2).
	tree, err := unix.OpenTree(unix.AT_FDCWD, dir, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return fmt.Errorf("open_tree: %w", err)
	}
	defer unix.Close(tree)
	return h.Do(func() error {
		if err := os.MkdirAll(at, 0o755); err != nil {
			return err
		}
		return unix.MoveMount(tree, "", unix.AT_FDCWD, at, unix.MOVE_MOUNT_F_EMPTY_PATH)
	})
}

func prepareDisk(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return mountDisk(dir)
}

// TakeAddr implements [Mobile]: it moves an address to this host from whichever has it. The others forget
// where it was, as a gratuitous ARP would make them.
func (h *host) TakeAddr(addr string) error {
	ip := net.ParseIP(addr)
	h.lab.mu.Lock()
	defer h.lab.mu.Unlock()
	for _, other := range h.lab.hosts {
		if ip.Equal(other.taken) {
			other.taken = nil
		}
		if err := other.Do(func() error { return forget(ip) }); err != nil {
			return fmt.Errorf("take %s from %s: %w", addr, other.name, err)
		}
	}
	if err := h.Do(func() error { return giveAddr("eth0", ip, h.lab.Net.Mask) }); err != nil {
		return fmt.Errorf("give %s to %s: %w", addr, h.name, err)
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
