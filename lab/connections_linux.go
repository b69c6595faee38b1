package lab

import (
	"errors"
	"fmt"
	"net"
	"slices"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Connections implements [Network]. The kernel of the host lists them, and ends one as
// "ss -K" does: with a reset for the other end.
func (n *droppable) Connections(at, from []Node) (all []Connection, err error) {
	peers, err := n.addrs(from)
	if err != nil {
		return nil, err
	}
	for _, one := range at {
		h, err := (*grounded)(n).hostAt(one.Addr())
		if err != nil {
			return nil, err
		}
		open, err := h.connections()
		if err != nil {
			return nil, fmt.Errorf("list the connections of %s: %w", one.Name(), err)
		}
		for _, s := range open {
			if slices.ContainsFunc(peers, s.Destination.Equal) {
				all = append(all, Connection{End: func() error { return h.end(s) }})
			}
		}
	}
	return all, nil
}

// connections are the established ones; those of a JVM are of the family of IPv6.
func (h *host) connections() (open []netlink.SocketID, err error) {
	err = h.Thread.Do(func() error {
		for _, family := range []uint8{unix.AF_INET, unix.AF_INET6} {
			sockets, err := netlink.SocketDiagTCP(family)
			if err != nil {
				return err
			}
			for _, s := range sockets {
				if s.State == netlink.TCP_ESTABLISHED {
					open = append(open, s.ID)
				}
			}
		}
		return nil
	})
	return open, err
}

// end ends a connection; one that has just ended by itself is none any more.
func (h *host) end(s netlink.SocketID) error {
	err := h.Thread.Do(func() error {
		return netlink.SocketDestroy(&net.TCPAddr{IP: s.Source, Port: int(s.SourcePort)}, &net.TCPAddr{IP: s.Destination, Port: int(s.DestinationPort)})
	})
	switch {
	case errors.Is(err, unix.EOPNOTSUPP):
		return fmt.Errorf("end a connection of %s: this kernel can't; it needs CONFIG_INET_DIAG_DESTROY", h.name)
	case err != nil && !errors.Is(err, unix.ENOENT):
		return fmt.Errorf("end a connection of %s: %w", h.name, err)
	}
	return nil
}
