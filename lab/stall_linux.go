package lab

import (
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"slices"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Stallable becomes the program of argv, each of whose calls that wait for the disk first
// asks whoever is at the other end of descriptor 3. No program can tell: the kernel itself
// asks, by a filter that what it starts inherits (seccomp's user notification).
func Stallable(argv []string) error {
	if len(argv) == 0 {
		return errors.New("stallable: no program is given")
	}
	runtime.LockOSThread() // the filter is this thread's, and so is what it becomes
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("stallable: %w", err)
	}
	listener, err := askForSync()
	if err != nil {
		return fmt.Errorf("stallable: this kernel lets nobody wait for another's system calls: %w", err)
	}
	const to = 3
	if err := unix.Sendmsg(to, []byte{0}, unix.UnixRights(listener), nil, 0); err != nil {
		return fmt.Errorf("stallable: %w", err)
	}
	_, _ = unix.Close(to), unix.Close(listener)
	return fmt.Errorf("start %s: %w", argv[0], unix.Exec(argv[0], argv, os.Environ()))
}

// askForSync installs the filter: a look at the system call's number.
func askForSync() (listener int, err error) {
	calls := []uint32{unix.SYS_FSYNC, unix.SYS_FDATASYNC, unix.SYS_SYNC_FILE_RANGE}
	program := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}}
	for i, n := range calls {
		program = append(program, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: n, Jt: uint8(len(calls) - i)})
	}
	program = append(program, unix.SockFilter{Code: unix.BPF_RET, K: unix.SECCOMP_RET_ALLOW}, unix.SockFilter{Code: unix.BPF_RET, K: unix.SECCOMP_RET_USER_NOTIF})
	f := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	fd, _, failed := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, uintptr(unsafe.Pointer(&f)))
	if failed != 0 {
		return 0, failed
	}
	return int(fd), nil
}

// asked is struct seccomp_notif, and answer struct seccomp_notif_resp.
type (
	asked struct {
		id         uint64
		pid, flags uint32
		data       [64]byte
	}
	answer struct {
		id    uint64
		val   int64
		error int32
		flags uint32
	}
)

// serve answers what comes through the connection's descriptor, as long as there is a
// program that asks.
func (d *slowDisk) serve(conn *net.UnixConn) error {
	defer conn.Close()
	room := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := conn.ReadMsgUnix(make([]byte, 1), room)
	if err != nil {
		return err
	}
	messages, err := unix.ParseSocketControlMessage(room[:n])
	if err != nil || len(messages) == 0 {
		return errors.Join(err, errors.New("nothing was handed over"))
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return err
	}
	fd := fds[0]
	defer unix.Close(fd)
	allow := func(id uint64) {
		a := answer{id: id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
		_ = ioctl(fd, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&a)) // who asked may be dead
	}
	for {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		if _, err := unix.Poll(poll, -1); err != nil && err != unix.EINTR {
			return err
		}
		if poll[0].Revents&unix.POLLHUP != 0 {
			return nil // the last that could ask is dead
		}
		if poll[0].Revents&unix.POLLIN == 0 {
			continue
		}
		var a asked
		if err := ioctl(fd, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&a)); err != 0 {
			continue // it was killed while it asked
		}
		d.ask(func() { allow(a.id) })
	}
}

func ioctl(fd int, what uintptr, arg unsafe.Pointer) syscall.Errno {
	_, _, err := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), what, uintptr(arg))
	return err
}

// wrap is p so that d can have it wait for its disk, for one start; started is to be called
// after that.
func (d *slowDisk) wrap(p Program) (_ Program, started func(), err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return p, nil, err
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "stall"), os.NewFile(uintptr(pair[1]), "stallable")
	conn, err := net.FileConn(ours)
	_ = ours.Close()
	if err != nil {
		return p, nil, errors.Join(err, theirs.Close())
	}
	go func() { _ = d.serve(conn.(*net.UnixConn)) }() // that it is not asked shows in the proof
	p.Before, p.Reports = append(slices.Clip(p.Before), "stallable"), theirs
	return p, func() { _ = theirs.Close() }, nil
}
