package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/vishvananda/netlink"
)

// makeBridge gives the cluster's network namespace a bridge, to which the nodes are joined.
func makeBridge(nodes int) error {
	bridge := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: "nodes"}}
	err := errors.Join(
		setUp("lo"),
		netlink.LinkAdd(bridge),
		setAddress("nodes", controlPlane+nodesMask),
	)
	if err != nil {
		return fmt.Errorf("make the bridge of the nodes: %w", err)
	}
	return routeToPods(nodes, 0)
}

// join plugs the network namespace of a process into the bridge.
func join(number, pid int) error {
	bridge, err := netlink.LinkByName("nodes")
	if err != nil {
		return err
	}
	// The one of a node that was stopped goes with its namespace, but not at once.
	if old, err := netlink.LinkByName(nodeName(number)); err == nil {
		_ = netlink.LinkDel(old) // it may just have gone, and if not, adding says so
	}
	cable := &netlink.Veth{
		LinkAttrs:     netlink.LinkAttrs{Name: nodeName(number), MasterIndex: bridge.Attrs().Index, Flags: net.FlagUp},
		PeerName:      "eth0",
		PeerNamespace: netlink.NsPid(pid),
	}
	if err := netlink.LinkAdd(cable); err != nil {
		return fmt.Errorf("join %s to the bridge: %w", nodeName(number), err)
	}
	return nil
}

// settle makes a node out of a network namespace that is being joined.
func settle(number, nodes int) error {
	deadline := time.Now().Add(10 * time.Second)
	for {
		if _, err := netlink.LinkByName("eth0"); err == nil {
			break
		}
		if time.Now().After(deadline) {
			return errors.New("nobody joined the node to the bridge: see cluster.log")
		}
		time.Sleep(10 * time.Millisecond)
	}
	err := errors.Join(
		setUp("lo"),
		setAddress("eth0", nodeAddress(number)+nodesMask),
		netlink.RouteAdd(&netlink.Route{Gw: net.ParseIP(controlPlane)}), // kube-proxy wants a way to addresses of services
		os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0),
	)
	if err != nil {
		return fmt.Errorf("set the node's addresses: %w", err)
	}
	return routeToPods(nodes, number)
}

// routeToPods knows the way to the pods of all nodes but its own.
func routeToPods(nodes, own int) error {
	for number := 1; number <= nodes; number++ {
		if number == own {
			continue
		}
		_, pods, err := net.ParseCIDR(nodePods(number))
		if err != nil {
			return err
		}
		if err := netlink.RouteAdd(&netlink.Route{Dst: pods, Gw: net.ParseIP(nodeAddress(number))}); err != nil {
			return fmt.Errorf("route to the pods of %s: %w", nodeName(number), err)
		}
	}
	return nil
}

func setAddress(name, address string) error {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return err
	}
	parsed, err := netlink.ParseAddr(address)
	if err != nil {
		return err
	}
	return errors.Join(netlink.AddrAdd(link, parsed), netlink.LinkSetUp(link))
}

func setUp(name string) error {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return err
	}
	return netlink.LinkSetUp(link)
}
