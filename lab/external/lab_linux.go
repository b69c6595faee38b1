package external

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/vishvananda/netlink"

	"github.com/lockbench/lockbench/lab"
)

// relayed is the local lab with hosts that stand for the servers outside.
type relayed struct {
	lab.Lab
	config *config
	door   *door

	mu       sync.Mutex
	machines map[string]lab.Host // by the real address, where that is used here, too
}

// Close implements [lab.Lab].
func (l *relayed) Close() error { return errors.Join(l.door.Close(), l.Lab.Close()) }

// Host implements [lab.Lab]. What is started on a server's host is a relay.
//
// Sentinels tell clients the addresses of their servers. Where there are some, the hosts have
// these very addresses, one for each machine, and everybody finds them there.
func (l *relayed) Host(ctx context.Context, name, image string) (lab.Host, error) {
	if image == "" { // lockbench's own
		h, err := l.Lab.Host(ctx, name, image)
		if err == nil && len(l.config.Sentinels) > 0 {
			err = inside(h, func() error { return everywhere("eth0") })
		}
		return h, err
	}
	addrs := l.config.Servers
	watches := strings.Contains(name, "sentinel")
	if watches {
		addrs = l.config.Sentinels
	}
	i := numbered(name)
	if i < 0 || i >= len(addrs) {
		return nil, fmt.Errorf("no address is that of %s", name)
	}
	s := &stand{lab: l, name: name, addr: addrs[i], sentinel: watches}
	if len(l.config.Sentinels) == 0 {
		h, err := l.Lab.Host(ctx, name, image)
		s.Host, s.at = h, ""
		return s, err
	}
	found, err := l.door.ask(ctx, request{Do: doFind, Addr: s.addr}) // names mean nothing in here
	if err != nil {
		return nil, err
	}
	ip := found.Said
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.machines[ip]
	if h == nil {
		if h, err = l.Lab.Host(ctx, name, image); err != nil {
			return nil, err
		}
		if err := errors.Join(h.(lab.Mobile).TakeAddr(ip), inside(h, func() error { return everywhere("eth0") })); err != nil {
			return nil, fmt.Errorf("give %s the address %s: %w", name, ip, err)
		}
		l.machines[ip] = h
	}
	s.Host, s.at = h, ip
	return s, nil
}

func inside(h lab.Host, do func() error) error { return h.(lab.Enterable).Do(do) }

// everywhere has who looks through the interface find every address on the lab's own network.
func everywhere(through string) error {
	link, err := netlink.LinkByName(through)
	if err != nil {
		return err
	}
	all := &net.IPNet{IP: net.IPv4zero, Mask: net.CIDRMask(0, 32)}
	return netlink.RouteReplace(&netlink.Route{LinkIndex: link.Attrs().Index, Dst: all, Scope: netlink.SCOPE_LINK})
}

// stand is a host that stands for a server.
type stand struct {
	lab.Host
	lab      *relayed
	name     string
	addr     string // of the real one
	at       string // the address that is used here, too, "" for the host's own
	sentinel bool
}

func (s *stand) Name() string { return s.name }

// Start implements [lab.Host]: whatever the program is, the user has started it.
func (s *stand) Start(ctx context.Context, p lab.Program) (lab.Process, error) {
	at, port := s.Addr(), p.Port
	if s.at != "" {
		_, number, err := net.SplitHostPort(s.addr)
		if err == nil {
			port, err = strconv.Atoi(number)
		}
		if err != nil {
			return nil, fmt.Errorf("the port of %s: %w", s.addr, err)
		}
		at = s.at
	}
	endpoint := lab.Endpoint(at, port)
	var file *os.File
	if err := inside(s.Host, func() error {
		l, err := net.Listen("tcp", endpoint)
		if err != nil {
			return err
		}
		defer l.Close() // the file is another descriptor of it
		file, err = l.(*net.TCPListener).File()
		return err
	}); err != nil {
		return nil, fmt.Errorf("listen for %s: %w", s.name, err)
	}
	defer file.Close()
	if _, err := s.lab.door.ask(ctx, request{Do: doRelay, Addr: s.addr, Sentinel: s.sentinel}, file); err != nil {
		return nil, err
	}
	if p.Log != nil {
		fmt.Fprintf(p.Log, "stands for %s\n", s.addr)
	}
	return &server{stand: s, endpoint: endpoint}, nil
}

// server is a program that the user has started.
type server struct {
	*stand
	endpoint string
}

// Endpoint implements [lab.Process].
func (s *server) Endpoint() string { return s.endpoint }

// Signal implements [lab.Process].
func (s *server) Signal(syscall.Signal) error {
	return fmt.Errorf("%s is not lockbench's to be stopped", s.addr)
}

// Wait implements [lab.Process]: nobody hears when it ends.
func (s *server) Wait() error { select {} }

// Command implements [lab.Commander].
func (l *relayed) Command(ctx context.Context, command string) (string, error) {
	a, err := l.door.ask(ctx, request{Do: doRun, Command: command})
	return a.Said, err
}

// Watch implements [lab.Commander].
func (l *relayed) Watch(ctx context.Context) (func() (lab.Outage, error), error) {
	begun, err := l.door.ask(ctx, request{Do: doWatch})
	if err != nil {
		return nil, err
	}
	return func() (lab.Outage, error) {
		a, err := l.door.ask(context.WithoutCancel(ctx), request{Do: doSeen, Number: begun.Number})
		return a.Outage, err
	}, nil
}
