package lab

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"
)

// droppable drops packets where they arrive: by nftables in the network
// namespace of the receiving host, so that the sender notices nothing but
// silence. (A drop on the sender's side would give its programs an error.) What a host
// sends under the address that it has taken is dropped, too.
type droppable grounded

// Drop implements [Network].
func (n *droppable) Drop(from, to []Node, share float64) (Rule, error) {
	return n.discard(from, to, func(ip net.IP) []expr.Any { return dropFrom(ip, share) })
}

// Mute implements [Network].
func (n *droppable) Mute(from, to []Node) (Rule, error) { return n.discard(from, to, muteFrom) }

// discard has each of the second discard what matches for an address of the first.
func (n *droppable) discard(from, to []Node, match func(net.IP) []expr.Any) (Rule, error) {
	senders, err := n.addrs(from)
	if err != nil {
		return nil, err
	}
	var all rules
	for _, dst := range to {
		h, err := (*grounded)(n).hostAt(dst.Addr())
		if err != nil {
			return nil, errors.Join(err, all.Remove())
		}
		r, err := h.discard(senders, match)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("drop packets to %s: %w", dst.Name(), err), all.Remove())
		}
		all = append(all, r)
	}
	return all, nil
}

// addrs are those that the nodes send from.
func (n *droppable) addrs(of []Node) (all []net.IP, err error) {
	for _, one := range of {
		h, err := (*grounded)(n).hostAt(one.Addr())
		if err != nil {
			return nil, err
		}
		all = append(all, h.addrs()...)
	}
	return all, nil
}

// rule is a table of its own on one host: removing it removes nothing else.
type rule struct {
	host  *host
	table *nftables.Table
	chain *nftables.Chain
}

// addrs are those that the host sends from.
func (h *host) addrs() []net.IP {
	h.lab.mu.Lock()
	defer h.lab.mu.Unlock()
	all := []net.IP{h.Space.Addr.To4()}
	if h.taken != nil {
		all = append(all, h.taken.To4())
	}
	return all
}

func (h *host) discard(from []net.IP, match func(net.IP) []expr.Any) (*rule, error) {
	h.lab.mu.Lock()
	h.rules++
	n := h.rules
	h.lab.mu.Unlock()
	r := &rule{host: h}
	r.table = &nftables.Table{Family: nftables.TableFamilyIPv4, Name: fmt.Sprintf("cut%d", n)}
	r.chain = &nftables.Chain{Name: "input", Table: r.table, Type: nftables.ChainTypeFilter,
		Hooknum: nftables.ChainHookInput, Priority: nftables.ChainPriorityFilter}
	return r, h.nft(func(c *nftables.Conn) error {
		c.AddTable(r.table)
		c.AddChain(r.chain)
		for _, ip := range from {
			c.AddRule(&nftables.Rule{Table: r.table, Chain: r.chain, Exprs: append(match(ip), &expr.Counter{}, &expr.Verdict{Kind: expr.VerdictDrop})})
		}
		return c.Flush()
	})
}

// dropFrom is "ip saddr IP", for a share "ip saddr IP numgen random mod 1000 < SHARE".
func dropFrom(ip net.IP, share float64) []expr.Any {
	match := comesFrom(ip)
	if share < 1 {
		const all, size = 1000, 4 // what is drawn from, and the bytes of a number
		match = append(match,
			&expr.Numgen{Register: 1, Modulus: all, Type: unix.NFT_NG_RANDOM},
			&expr.Byteorder{SourceRegister: 1, DestRegister: 1, Op: expr.ByteorderHton, Len: size, Size: size}, // bytes are compared
			&expr.Cmp{Op: expr.CmpOpLt, Register: 1, Data: binary.BigEndian.AppendUint32(nil, uint32(share*all))})
	}
	return match
}

// muteFrom is "ip saddr IP tcp flags & (syn|rst) == 0".
func muteFrom(ip net.IP) []expr.Any {
	const flags, bounds = 13, 2 | 4 // the byte of the TCP header, and its bits
	return append(comesFrom(ip),
		&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: 1},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{unix.IPPROTO_TCP}},
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Offset: flags, Len: 1},
		&expr.Bitwise{SourceRegister: 1, DestRegister: 1, Len: 1, Mask: []byte{bounds}, Xor: []byte{0}},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{0}})
}

// comesFrom is "ip saddr IP".
func comesFrom(ip net.IP) []expr.Any {
	const sourceOffset = 12 // of the source address in the IPv4 header, in bytes
	return []expr.Any{
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseNetworkHeader, Offset: sourceOffset, Len: net.IPv4len},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: binary.BigEndian.AppendUint32(nil, binary.BigEndian.Uint32(ip))},
	}
}

// nft runs f with a connection to the host's packet filter.
func (h *host) nft(f func(*nftables.Conn) error) error {
	return h.Thread.Do(func() error {
		c, err := nftables.New()
		if err != nil {
			return fmt.Errorf("nftables: %w", err)
		}
		return f(c)
	})
}

// Packets implements [Rule].
func (r *rule) Packets() (n uint64, err error) {
	err = r.host.nft(func(c *nftables.Conn) error {
		found, err := c.GetRules(r.table, r.chain)
		if err != nil {
			return fmt.Errorf("nftables: read the counters: %w", err)
		}
		for _, one := range found {
			for _, e := range one.Exprs {
				if counter, ok := e.(*expr.Counter); ok {
					n += counter.Packets
				}
			}
		}
		return nil
	})
	return n, err
}

// Remove implements [Rule].
func (r *rule) Remove() error {
	return r.host.nft(func(c *nftables.Conn) error {
		c.DelTable(r.table)
		if err := c.Flush(); err != nil {
			return fmt.Errorf("nftables: remove the rule: %w", err)
		}
		return nil
	})
}

type rules []*rule

func (rs rules) Packets() (sum uint64, err error) {
	for _, r := range rs {
		n, e := r.Packets()
		sum, err = sum+n, errors.Join(err, e)
	}
	return sum, err
}

func (rs rules) Remove() (err error) {
	for _, r := range rs {
		err = errors.Join(err, r.Remove())
	}
	return err
}
