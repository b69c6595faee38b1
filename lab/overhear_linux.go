package lab

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Overhear implements [Network], by a socket that is given a copy of each packet before any filter sees
// it.
func (n *droppable) Overhear(at Node, hear func(Segment)) (Overheard, error) {
	h, err := (*grounded)(n).hostAt(at.Addr())
	if err != nil {
		return nil, err
	}
	var socket int
	err = h.Thread.Do(func() (err error) {
		socket, err = packetSocket("eth0")
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("overhear %s: %w", at.Name(), err)
	}
	o := &overheard{socket: socket, packets: os.NewFile(uintptr(socket), "packets of "+at.Name())}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.overheard = append(h.overheard, o)
	go o.listen(hear)
	return o, nil
}

// packetSocket is one of the calling thread's network.
func packetSocket(device string) (socket int, err error) {
	link, err := netlink.LinkByName(device)
	if err != nil {
		return 0, err
	}
	if socket, err = unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0); err != nil {
		return 0, err
	}
	const room = 16 << 20
	if unix.SetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, room) != nil { // who is root in a namespace only may not
		_ = unix.SetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_RCVBUF, room)
	}
	all := binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, unix.ETH_P_ALL))
	if err := unix.Bind(socket, &unix.SockaddrLinklayer{Protocol: all, Ifindex: link.Attrs().Index}); err != nil {
		_ = unix.Close(socket)
		return 0, err
	}
	return socket, nil
}

// overheard implements [Overheard].
type overheard struct {
	socket  int
	packets *os.File
	missed  int
}

func (o *overheard) listen(hear func(Segment)) {
	packet := make([]byte, 1<<17)
	for {
		n, err := o.packets.Read(packet)
		if err != nil {
			return
		}
		if s, ok := segment(packet[:n]); ok {
			hear(s)
		}
	}
}

// Missed implements [Overheard].
func (o *overheard) Missed() int {
	if s, err := unix.GetsockoptTpacketStats(o.socket, unix.SOL_PACKET, unix.PACKET_STATISTICS); err == nil { // which counts anew
		o.missed += int(s.Drops)
	}
	return o.missed
}

// segment reads a packet of IPv4.
func segment(p []byte) (s Segment, ok bool) {
	const ipHeader, tcpHeader = 20, 20
	if len(p) < ipHeader || p[0]>>4 != 4 || p[9] != unix.IPPROTO_TCP {
		return s, false
	}
	inside := int(p[0]&15) * 4
	if whole := int(binary.BigEndian.Uint16(p[2:])); whole > 0 && whole < len(p) { // short ones are filled up
		p = p[:whole]
	}
	if len(p) < inside+tcpHeader {
		return s, false
	}
	tcp := p[inside:]
	payload := int(tcp[12]>>4) * 4
	if len(tcp) < payload {
		return s, false
	}
	const fin, syn, rst, ack = 1, 2, 4, 16
	end := func(addr []byte, port []byte) netip.AddrPort {
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(addr)), binary.BigEndian.Uint16(port))
	}
	return Segment{From: end(p[12:16], tcp), To: end(p[16:20], tcp[2:]), Number: binary.BigEndian.Uint32(tcp[4:]),
		Begins: tcp[13]&syn != 0, Ends: tcp[13]&(fin|rst) != 0,
		Confirms: tcp[13]&ack != 0, Next: binary.BigEndian.Uint32(tcp[8:]), Payload: tcp[payload:]}, true
}
