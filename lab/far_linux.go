package lab

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/clock"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// farCable connects a host to the bridge by way of this process, which keeps each frame back for half of the
// round trip: those that leave the host, and of those that reach it what comes from this process, as what
// comes from another host was kept back when it left that. So all are equally far from each other. A frame has
// room for 1,500 bytes, and none overtakes another from the same place.
func (l *local) farCable(port string, thread *Launcher, roundTrip time.Duration) error {
	outer := tap(port)
	outer.MasterIndex = l.br.Index
	if err := netlink.LinkAdd(outer); err != nil {
		return err
	}
	inner := tap("eth0")
	if err := thread.Do(func() error { return netlink.LinkAdd(inner) }); err != nil {
		return errors.Join(err, outer.Fds[0].Close())
	}
	own := l.br.HardwareAddr
	half := roundTrip / 2
	go passOn(inner.Fds[0], outer.Fds[0], half, func(net.HardwareAddr) bool { return true })
	go passOn(outer.Fds[0], inner.Fds[0], half, func(from net.HardwareAddr) bool { return bytes.Equal(from, own) })
	return nil
}

// hasTap says why interfaces whose cable is a process can't be had here, or nil.
func hasTap() error {
	const device = "/dev/net/tun"
	f, err := os.OpenFile(device, os.O_RDWR, 0)
	if err == nil {
		_, err = unix.IoctlGetInt(int(f.Fd()), unix.TUNGETFEATURES) // what can be opened may be another device
		err = errors.Join(err, f.Close())
	}
	switch {
	case errors.Is(err, unix.ENOTTY):
		return fmt.Errorf("servers far away need %s, and what is there is no such device (%w): give a container --device %s", device, err, device)
	case err != nil:
		return fmt.Errorf("servers far away need %s (%w): run as root, or as somebody who may open it; give a container --device %s", device, err, device)
	}
	return nil
}

// tap is a network interface of which this process is the cable.
func tap(name string) *netlink.Tuntap {
	return &netlink.Tuntap{LinkAttrs: netlink.LinkAttrs{Name: name}, Mode: netlink.TUNTAP_MODE_TAP, Flags: netlink.TUNTAP_NO_PI, Queues: 1, NonPersist: true}
}

// kept is a frame that is passed on later.
type kept struct {
	frame []byte
	due   lb.Instant
}

// passOn passes frames on for as long as this process lives: those of whom it is told to keep back, so much later.
func passOn(from, to *os.File, later time.Duration, keep func(from net.HardwareAddr) bool) {
	const header, room = 14, 1 << 14 // bytes of a frame; frames on their way
	back := make(chan kept, room)
	defer close(back)
	go release(back, to)
	buf := make([]byte, 1<<16)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		came := clock.Now()
		switch frame := buf[:n]; {
		case n < header:
		case keep(net.HardwareAddr(frame[6:12])):
			back <- kept{bytes.Clone(frame), came.Add(later)}
		default:
			_, err = to.Write(frame)
		}
		if errors.Is(err, os.ErrClosed) {
			return
		}
	}
}

// release writes each frame when it is due. The runtime's own timers are a millisecond late where there is
// nothing else to do, and a thread that sleeps in the kernel keeps others from its processor for a while; a timer that is
// a file does neither.
func release(back <-chan kept, to *os.File) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
	if err != nil {
		return // all that is kept stays: nobody is nearer than was told
	}
	timer := os.NewFile(uintptr(fd), "timer")
	defer timer.Close()
	for k := range back {
		at := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(k.due))}
		if clock.Now() < k.due && unix.TimerfdSettime(fd, unix.TFD_TIMER_ABSTIME, &at, nil) == nil {
			_, _ = timer.Read(make([]byte, 8))
		}
		_, _ = to.Write(k.frame) // what does not arrive is sent again
	}
}
