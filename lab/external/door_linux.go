package external

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lockbench/lockbench/lab"
)

// doorVariable tells the process in the lab which of its files is the door.
const doorVariable = "LOCKBENCH_DOOR"

// request goes through the door. What it is answered comes on a socket that it brings with
// it, as the last of its files.
type request struct {
	Do       string `json:"do"`
	Addr     string `json:"addr,omitempty"`
	Sentinel bool   `json:"sentinel,omitempty"`
	Command  string `json:"command,omitempty"`
	// Within is how long it may take, 0 for no bound, and Number that of a watch.
	Within time.Duration `json:"within_ns,omitempty"`
	Number int           `json:"number,omitempty"`
}

const (
	doRelay = "relay" // pass on what comes to the listener that it brings
	doRun   = "run"   // the command
	doWatch = "watch" // begin to look whether servers answer
	doSeen  = "seen"  // end that, and say what was seen
	doFind  = "find"  // say which address it is
)

type answer struct {
	Said   string     `json:"said,omitempty"`
	Error  string     `json:"error,omitempty"`
	Outage lab.Outage `json:"outage"`
	Number int        `json:"number,omitempty"`
}

const longestMessage = 1 << 16

func pair() (a, b *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("make a door: %w", err)
	}
	return os.NewFile(uintptr(fds[0]), "door"), os.NewFile(uintptr(fds[1]), "door"), nil
}

// socket is the file as one, and closes it.
func socket(f *os.File) (*net.UnixConn, error) {
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	return c.(*net.UnixConn), nil
}

// door is the inner side.
type door struct{ *net.UnixConn }

func openDoor(number int) (*door, error) {
	unix.CloseOnExec(number) // what is started in the lab has no door
	c, err := socket(os.NewFile(uintptr(number), "door"))
	return &door{c}, err
}

func (d *door) ask(ctx context.Context, r request, file ...*os.File) (a answer, err error) {
	mine, theirs, err := pair()
	if err != nil {
		return a, err
	}
	defer theirs.Close()
	reply, err := socket(mine)
	if err != nil {
		return a, err
	}
	defer reply.Close()
	const last = time.Second // for the answer that the time is over
	defer context.AfterFunc(ctx, func() { _ = reply.SetDeadline(time.Now().Add(last)) })()
	if end, ends := ctx.Deadline(); ends {
		r.Within = time.Until(end)
	}
	text, err := json.Marshal(r)
	if err != nil {
		return a, err
	}
	var rights []int
	for _, f := range append(file, theirs) {
		rights = append(rights, int(f.Fd()))
	}
	if _, _, err := d.WriteMsgUnix(text, unix.UnixRights(rights...), nil); err != nil {
		return a, fmt.Errorf("ask outside: %w", err)
	}
	theirs.Close()
	buffer := make([]byte, longestMessage)
	n, err := reply.Read(buffer)
	if err == nil {
		err = json.Unmarshal(buffer[:n], &a)
	}
	if err != nil {
		return a, fmt.Errorf("ask outside to %s: %w", r.Do, cmp.Or(ctx.Err(), err))
	}
	if a.Error != "" {
		err = errors.New(a.Error)
	}
	return a, err
}

// keeper is the outer side.
type keeper struct {
	config *config
	door   *net.UnixConn
	ctx    context.Context
	stop   context.CancelFunc

	mu        sync.Mutex
	relays    []*relay
	listeners []net.Listener
	watches   []*watch
	closed    bool
	commands  sync.WaitGroup
}

// keep obeys what comes through the door, until it is closed.
func (c *config) keep(outside *os.File) (*keeper, error) {
	s, err := socket(outside)
	if err != nil {
		return nil, err
	}
	k := &keeper{config: c, door: s}
	k.ctx, k.stop = context.WithCancel(context.Background())
	go k.listen()
	return k, nil
}

func (k *keeper) close() error {
	k.stop()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
	err := k.door.Close()
	for _, l := range k.listeners {
		err = errors.Join(err, l.Close())
	}
	for _, r := range k.relays {
		r.end()
	}
	k.mu.Unlock()
	k.commands.Wait()
	k.mu.Lock()
	return err
}

func (k *keeper) listen() {
	text, rights := make([]byte, longestMessage), make([]byte, unix.CmsgSpace(2*4))
	for {
		n, m, _, _, err := k.door.ReadMsgUnix(text, rights)
		if err != nil || n == 0 {
			return
		}
		files, err := received(rights[:m])
		if err != nil || len(files) == 0 {
			continue
		}
		var r request
		err = json.Unmarshal(text[:n], &r)
		go k.obey(r, files, err)
	}
}

func received(rights []byte) (files []*os.File, err error) {
	messages, err := unix.ParseSocketControlMessage(rights)
	for _, m := range messages {
		fds, e := unix.ParseUnixRights(&m)
		err = errors.Join(err, e)
		for _, fd := range fds {
			unix.CloseOnExec(fd)
			files = append(files, os.NewFile(uintptr(fd), "from the lab"))
		}
	}
	return files, err
}

func (k *keeper) obey(r request, files []*os.File, bad error) {
	reply := files[len(files)-1]
	defer func() {
		for _, f := range files {
			f.Close()
		}
	}()
	var a answer
	err := bad
	switch {
	case err != nil:
	case r.Do == doRelay && len(files) == 2:
		err = k.relay(r, files[0])
	case r.Do == doRun:
		a.Said, err = k.run(r)
	case r.Do == doWatch:
		a.Number, err = k.look()
	case r.Do == doSeen:
		a.Outage, err = k.saw(r.Number)
	case r.Do == doFind:
		a.Said, _, err = address(r.Addr)
	default:
		err = fmt.Errorf("nobody knows how to %q", r.Do)
	}
	if err != nil {
		a.Error = err.Error()
	}
	text, err := json.Marshal(a)
	if err == nil {
		_, _ = reply.Write(text) // the lab may have ended
	}
}

func (k *keeper) relay(q request, file *os.File) error {
	l, err := net.FileListener(file)
	if err != nil {
		return fmt.Errorf("relay to %s: %w", q.Addr, err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return errors.Join(net.ErrClosed, l.Close())
	}
	guest := k.config.guest.Load()
	if guest == nil {
		return errors.Join(fmt.Errorf("relay to %s: nobody has taken the servers for a run", q.Addr), l.Close())
	}
	r := &relay{config: k.config, guest: guest, addr: q.Addr, sentinel: q.Sentinel}
	k.listeners, k.relays = append(k.listeners, l), append(k.relays, r)
	go func() { _ = r.serve(l) }() // until it is closed
	return nil
}

// look begins a watch over all servers, and returns its number.
func (k *keeper) look() (int, error) {
	k.mu.Lock()
	servers := slices.DeleteFunc(slices.Clone(k.relays), func(r *relay) bool { return r.sentinel })
	k.mu.Unlock()
	w, err := begin(k.ctx, servers)
	if err != nil {
		return 0, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.watches = append(k.watches, w)
	return len(k.watches) - 1, nil
}

func (k *keeper) saw(number int) (lab.Outage, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if number < 0 || number >= len(k.watches) {
		return lab.Outage{}, fmt.Errorf("there is no watch %d", number)
	}
	return k.watches[number].end(), nil
}

// mostSaid is how much of a command's last line is kept, in bytes.
const mostSaid = 300

// run has a shell run a command of the user's, and returns its last line. When its time is
// over it is killed, with all that it has started.
func (k *keeper) run(r request) (string, error) {
	k.mu.Lock()
	if k.closed {
		k.mu.Unlock()
		return "", net.ErrClosed
	}
	k.commands.Add(1)
	k.mu.Unlock()
	defer k.commands.Done()
	ctx, cancel := context.WithTimeout(k.ctx, cmp.Or(r.Within, time.Minute))
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", r.Command)
	cmd.Env = hidden(os.Environ())
	cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }
	cmd.WaitDelay = time.Second
	var out tail
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	said := out.line()
	switch {
	case err != nil && ctx.Err() != nil:
		return said, fmt.Errorf("the command %q did not end in time", r.Command)
	case err != nil:
		return said, fmt.Errorf("the command %q: %w: %s", r.Command, err, said)
	}
	return said, nil
}

// tail is the end of what is written to it.
type tail []byte

func (t *tail) Write(p []byte) (int, error) {
	*t = append(*t, p...)
	if over := len(*t) - 2*mostSaid; over > 0 {
		*t = append((*t)[:0], (*t)[over:]...)
	}
	return len(p), nil
}

// line is the last one.
func (t tail) line() string {
	text := strings.TrimSpace(strings.ToValidUTF8(string(t), ""))
	text = text[strings.LastIndexByte(text, '\n')+1:]
	return strings.ToValidUTF8(text[max(0, len(text)-mostSaid):], "")
}
