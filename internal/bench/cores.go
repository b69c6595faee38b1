package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/lockbench/lockbench/internal/cost"
	"github.com/lockbench/lockbench/lab"
)

// What a round trip on one machine takes is decided by where its two ends run more than by the lock: on one
// core a PING to Redis takes less than half of what it takes on two, and the kernel moves them as it likes.
// So clients and servers run apart, as on machines of their own, and the cores are kept awake.

// apart brings up the servers on cores of their own, and leaves the others to the clients. Whatever a process
// starts inherits its cores.
func (m *measurement) apart(ctx context.Context, bringUp func() error) error {
	all := available()
	c := &cost.Cores{}
	m.out.Cores = c
	switch self, _ := os.Readlink("/proc/self"); {
	case len(all) < 2:
		c.Left = "no two cores are known"
	case self != fmt.Sprint(os.Getpid()):
		c.Left = "/proc is that of other processes"
	default:
		c.Clients, c.Servers = halves(all)
		if err := confine(c.Servers); err != nil {
			*c = cost.Cores{Left: err.Error()}
		}
	}
	if err := bringUp(); err != nil {
		return err
	}
	if c.Left == "" && !m.seen() {
		*c = cost.Cores{Left: "not all servers are processes of this machine that are to be seen from here"}
	}
	if c.Left != "" {
		return confine(all)
	}
	if err := confine(c.Clients); err != nil {
		return err
	}
	var err error
	if m.spinner, err = m.startSpinner(ctx, all); err != nil {
		c.Asleep = err.Error()
	}
	return ctx.Err()
}

// together ends what apart began, for what follows, where a round trip does not count.
func (m *measurement) together() error {
	if m.spinner != nil {
		if err := m.spinner.Signal(syscall.SIGKILL); err != nil {
			return err
		}
	}
	if c := m.out.Cores; c.Left == "" {
		return confine(slices.Concat(c.Clients, c.Servers))
	}
	return nil
}

// seen reports whether there are servers, each of them a process here.
func (m *measurement) seen() bool {
	served := false
	for _, r := range m.rows {
		for _, s := range r.on.up.Servers {
			if served = true; s.Pid() == 0 {
				return false
			}
		}
	}
	return served
}

// AwakeReports is the descriptor at which [Awake] says that all cores are kept awake.
const AwakeReports = 3

const awake = "awake"

func (m *measurement) startSpinner(ctx context.Context, cores []int) (lab.Process, error) {
	host, err := m.lab.Host(ctx, "awake", "")
	if err != nil {
		return nil, err
	}
	log, err := m.dir.OpenLog("awake")
	if err != nil {
		return nil, err
	}
	defer log.Close()
	says, reports, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer says.Close()
	list := strings.Trim(strings.ReplaceAll(fmt.Sprint(cores), " ", ","), "[]")
	p, err := host.Start(ctx, lab.Program{Argv: []string{lab.Self, "awake", list}, Reports: reports, Log: log})
	if err := errors.Join(err, reports.Close()); err != nil {
		return nil, err
	}
	if word, _ := bufio.NewReader(says).ReadString('\n'); word != awake+"\n" {
		return nil, errors.New("whoever was to keep them awake has ended: see logs/awake.log")
	}
	return p, nil
}

// asleep lets the cores sleep while something is done, if they are kept awake.
func (m *measurement) asleep(do func() error) error {
	if err := m.spinner.Signal(syscall.SIGSTOP); err != nil {
		return fmt.Errorf("let the cores sleep: %w", err)
	}
	return errors.Join(do(), m.spinner.Signal(syscall.SIGCONT))
}
