package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/lockbench/lockbench/internal/cost"
	"github.com/lockbench/lockbench/lab"
)

// usage is what the servers, the clients and the wire had to do meanwhile.
type usage struct {
	lab  lab.Lab
	pids []int // of the servers

	server, client float64 // ns of processor time
	traffic        lab.Traffic
	counted        bool // the traffic
}

func (u *usage) begin() {
	u.traffic, u.counted = u.wire()
	u.server, u.client = processorTime(u.pids...), processorTime(os.Getpid())
}

func (u *usage) end() {
	u.server, u.client = processorTime(u.pids...)-u.server, processorTime(os.Getpid())-u.client
	now, ok := u.wire()
	u.traffic = lab.Traffic{Bytes: now.Bytes - u.traffic.Bytes, Packets: now.Packets - u.traffic.Packets}
	u.counted = u.counted && ok
}

// wire is all that has passed between the clients and the servers until now.
func (u *usage) wire() (lab.Traffic, bool) {
	m, ok := u.lab.(lab.Meter)
	if !ok {
		return lab.Traffic{}, false
	}
	t, err := m.Traffic()
	return t, err == nil
}

// account adds the figures to the cell. What the lab or the kernel does not tell is left
// out.
func (u *usage) account(c *cost.Cell, round, grants int) {
	if size := resident(u.pids); size > 0 {
		c.Add(round, cost.Resident, size)
	}
	if grants == 0 {
		return
	}
	n := float64(grants)
	if u.counted && len(u.pids) > 0 {
		c.Add(round, cost.Bytes, float64(u.traffic.Bytes)/n)
		c.Add(round, cost.Packets, float64(u.traffic.Packets)/n)
	}
	if u.server > 0 {
		c.Add(round, cost.ServerNS, u.server/n)
	}
	if u.client > 0 {
		c.Add(round, cost.ClientNS, u.client/n)
	}
}

// processorTime of processes, of all their threads, in ns. The kernel's figures of whole
// processes count in ticks of 10 ms, which is too coarse.
func processorTime(pids ...int) (ns float64) {
	for _, pid := range pids {
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid)) // the pattern is right
		for _, path := range tasks {
			ns += firstNumber(path)
		}
	}
	return ns
}

// resident is the memory of processes, in bytes.
func resident(pids []int) (bytes float64) {
	for _, pid := range pids {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
		if f := strings.Fields(string(text)); err == nil && len(f) > 1 {
			pages, _ := strconv.ParseFloat(f[1], 64) // the kernel writes numbers
			bytes += pages * float64(os.Getpagesize())
		}
	}
	return bytes
}

// firstNumber of a file; 0 where it is gone.
func firstNumber(path string) float64 {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), " ")
	n, _ := strconv.ParseFloat(first, 64) // the kernel writes numbers
	return n
}
