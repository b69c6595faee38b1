package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/lockbench/lockbench/internal/cost"
	"github.com/lockbench/lockbench/internal/processes"
	"github.com/lockbench/lockbench/lab"
)

// usage is what the servers, the clients and the wire had to do meanwhile.
type usage struct {
	lab  lab.Lab
	pids []int // of the servers

	server         map[int]float64 // ns of processor time by process, before
	served, client float64         // ns of processor time
	traffic        lab.Traffic
	counted        bool // the traffic
}

func (u *usage) begin() {
	u.traffic, u.counted = u.wire()
	u.server, u.client = map[int]float64{}, processorTime(os.Getpid())
	for _, pid := range withBelow(u.pids) {
		u.server[pid] = processorTime(pid)
	}
}

func (u *usage) end() {
	u.client = processorTime(os.Getpid()) - u.client
	for _, pid := range withBelow(u.pids) { // of one that has ended meanwhile nothing is known
		u.served += processorTime(pid) - u.server[pid]
	}
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
	if u.served > 0 {
		c.Add(round, cost.ServerNS, u.served/n)
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

// withBelow are the processes and all that they have started: some servers have one for each client.
func withBelow(pids []int) (all []int) {
	for _, pid := range pids {
		below, _ := processes.Of(pid)
		all = append(append(all, pid), below...)
	}
	return all
}

// resident is the memory of servers, in bytes. Of what they have started it is what is neither a file's nor
// shared memory; what a process has of its parent's until one of them writes there counts for both.
func resident(pids []int) (bytes float64) {
	for _, pid := range withBelow(pids) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
		if f := strings.Fields(string(text)); err == nil && len(f) > 2 {
			pages, _ := strconv.ParseFloat(f[1], 64) // the kernel writes numbers
			if !slices.Contains(pids, pid) {
				shared, _ := strconv.ParseFloat(f[2], 64)
				pages -= shared
			}
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
