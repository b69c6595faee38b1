//go:build linux

// Command placement measures why a benchmark decides where its processes run: how long a PING to Redis takes by
// where its two ends are, in blocks, by turns. It draws docs/placement.svg, a point for each block's median, and
// prints the figures.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"time"

	"github.com/lockbench/lockbench/internal/bench"
	"golang.org/x/sys/unix"
)

// connecting is how long the server may take to come up.
const connecting = 30 * time.Second

// a place is where the client and the server run.
type place struct {
	name           string
	client, server []int
	awake          bool
	blocks         []float64 // µs, the median of each
}

func main() { os.Exit(placement(os.Args[1:])) }

func placement(args []string) (exit int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := errors.New("usage: placement FILE.svg")
	switch {
	case len(args) == 2 && args[0] == "awake":
		err = bench.Awake(ctx, os.Stdout, args[1])
	case len(args) == 1:
		err = drawn(ctx, args[0])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "placement:", err)
		return 1
	}
	return 0
}

func drawn(ctx context.Context, file string) error {
	places, err := measure(ctx, 60, 1000)
	if err != nil {
		return err
	}
	for _, p := range places {
		sorted := slices.Sorted(slices.Values(p.blocks))
		at := func(share float64) float64 { return sorted[int(share*float64(len(sorted)-1))] }
		fmt.Printf("%-20s %5.1f µs, nine of ten blocks from %.1f to %.1f\n", p.name, at(0.5), at(0.05), at(0.95))
	}
	return draw(places, file)
}

// measure has a block at each place by turns, so that what the machine does strikes all alike.
func measure(ctx context.Context, rounds, pings int) ([]*place, error) {
	if runtime.NumCPU() < 2 {
		return nil, errors.New("this takes two processors")
	}
	one, other, all := []int{0}, []int{1}, []int{0, 1}
	places := []*place{
		{name: "one processor", client: one, server: one},
		{name: "two, kept awake", client: one, server: other, awake: true},
		{name: "two that sleep", client: one, server: other},
		{name: "as the kernel likes", client: all, server: all},
	}
	server, addr, err := redis()
	if err != nil {
		return nil, err
	}
	defer func() { _ = server.Process.Kill() }() // it may have ended
	c, err := dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	runtime.LockOSThread()
	for range rounds {
		for _, p := range places {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			b, err := block(p, c, server.Process.Pid, pings)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", p.name, err)
			}
			p.blocks = append(p.blocks, b)
		}
	}
	return places, nil
}

// redis starts a server that keeps nothing.
func redis() (*exec.Cmd, string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", err
	}
	addr := l.Addr().(*net.TCPAddr)
	l.Close()
	cmd := exec.Command("redis-server", "--port", fmt.Sprint(addr.Port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no")
	cmd.SysProcAttr = &unix.SysProcAttr{Pdeathsig: unix.SIGKILL}
	return cmd, addr.String(), cmd.Start()
}

// dial returns a socket that blocks, so that no other thread of this process has a part in an answer.
func dial(ctx context.Context, addr string) (*os.File, error) {
	ctx, cancel := context.WithTimeout(ctx, connecting)
	defer cancel()
	for {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
		if err == nil {
			defer c.Close()
			f, err := c.(*net.TCPConn).File()
			if err != nil {
				return nil, err
			}
			return f, unix.SetNonblock(int(f.Fd()), false)
		}
		if ctx.Err() != nil {
			return nil, err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// block is the median of so many PINGs, in µs, after a tenth as many that are not counted.
func block(p *place, c *os.File, server, pings int) (median float64, err error) {
	if err := errors.Join(pin(0, p.client), pin(server, p.server)); err != nil {
		return 0, err
	}
	if p.awake {
		sleep, err := keepAwake()
		if err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, sleep()) }()
	}
	took := make([]float64, 0, pings)
	for i := range pings/10 + pings {
		start := time.Now()
		if err := ping(int(c.Fd())); err != nil {
			return 0, err
		}
		if d := time.Since(start); i >= pings/10 {
			took = append(took, float64(d)/float64(time.Microsecond))
		}
	}
	slices.Sort(took)
	return took[len(took)/2], nil
}

func pin(pid int, cores []int) error {
	var set unix.CPUSet
	for _, c := range cores {
		set.Set(c)
	}
	return unix.SchedSetaffinity(pid, &set)
}

// keepAwake starts this program again to keep both processors awake.
func keepAwake() (sleep func() error, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, "awake", "0,1")
	cmd.SysProcAttr = &unix.SysProcAttr{Pdeathsig: unix.SIGKILL}
	says, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	_, err = says.Read(make([]byte, 100))
	return func() error {
		err := cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		return err
	}, err
}

func ping(fd int) error {
	if _, err := unix.Write(fd, []byte("PING\r\n")); err != nil {
		return err
	}
	answer := make([]byte, 16)
	n, err := unix.Read(fd, answer)
	if err != nil {
		return err
	}
	if string(answer[:n]) != "+PONG\r\n" {
		return fmt.Errorf("redis answered %q: %w", answer[:n], io.ErrUnexpectedEOF)
	}
	return nil
}
