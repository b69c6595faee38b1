package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/catalog"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/lab"
	"github.com/lockbench/lockbench/reports"
	"github.com/lockbench/lockbench/workloads"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// planFlags are the flags that run and matrix share.
type planFlags struct {
	history.Plan
	exec string
	out  string
	ours bool // out was not given
	json bool
	ci   outputs
	yes  bool
	// given says whether a flag was given.
	given func(flag string) bool

	drawn    bool // the seed, from the time
	work     workloads.Workload
	driver   lab.Driver
	store    string // what keeps the fenced copy
	database string // topology of that, "" for memory
}

func (p *planFlags) add(cmd *cobra.Command, c Catalog, duration time.Duration) {
	f := cmd.Flags()
	p.given = f.Changed
	execFlag(cmd, &p.exec)
	f.StringVar(&p.Workload, "workload", c.Workloads[0].Info().Name, "what clients do inside the lock: see lockbench list workloads")
	f.StringVar(&p.Work, "work", "", "how long the long work takes that some holders of the counter do, where the lock is kept for as long: as 2.5ttl or 3s, or none (default: 2.5ttl)")
	f.StringVar(&p.store, "store", inMemory, "what keeps the copy that refuses late writes: see lockbench list stores")
	f.StringVar(&p.Lab, "lab", c.Labs[0].Name, "where the servers run: see lockbench list labs")
	f.StringVar(&p.Addrs, "addrs", "", "the servers of --lab external: HOST:PORT with commas between them, or a file")
	f.BoolVar(&p.yes, "yes", false, "remove without asking what another run has left on the servers of --addrs, unless it goes on on this machine")
	f.StringVar(&p.Topology, "topology", "", "the lock service (default: the algorithm's first that the fault can strike, or an ensemble of three where it has to do with sessions or leaders)")
	f.StringArrayVar(&p.ServerOptions, "server-option", nil, "an option of the servers as NAME=VALUE, by the name that their documentation has; may be repeated")
	f.StringVar(&p.ServerBinary, "server-binary", "", "servers of your own, as SOFTWARE=PATH, such as redis=/opt/redis/redis-server")
	f.StringVar(&p.ServerImage, "image", "", "servers of this image in the docker lab, as SOFTWARE=NAME, such as redis=redis:8")
	f.IntVar(&p.Clients, "clients", 6, "clients, over all processes")
	f.IntVar(&p.Processes, "processes", 3, "worker processes, each on a host of its own")
	f.StringVar(&p.Clocks, "clocks", history.OneClock, "one clock for all processes, or apart: a clock of its own for each worker's host, to check that lockbench puts such histories together")
	f.DurationVar(&p.TTL, "ttl", 0, "lease time (default: 1.3s, or longer where the fault or the lock needs it)")
	f.DurationVar(&p.Duration, "duration", duration, "how long clients work at least; a fault makes it longer")
	f.IntVar(&p.FaultsAtOnce, "faults-at-once", 1, "how many faults may be in force at the same time, where the fault consists of several, as random does")
	f.Uint64Var(&p.Seed, "seed", 0, "seed of the schedule (default: from the time, printed)")
	f.StringVar((*string)(&p.Require), "require", "", "the worst that may come of a lock that declares nothing, or with --exec of that program: SAFE, CHECK or FENCE (default: anything, and the exit code is 0)")
	f.StringVar(&p.out, "out", "", "the directory to write (default: runs/<time>-…)")
	f.BoolVar(&p.json, "json", false, "one JSON object on standard output")
}

// mostAtOnce: faults that strike the same are never in force together, and there are four
// families of what they strike.
const mostAtOnce = 4

// inMemory is the store that no database keeps a copy of.
const (
	inMemory  = "memory"
	memoryDoc = "all copies of the protected store are in its own memory"
)

// complete fills in what was not given and refuses what can't work.
func (p *planFlags) complete(c Catalog, what string) (err error) {
	const longest = 24 * time.Hour
	if p.work, err = named(c.Workload(p.Workload)); err != nil {
		return err
	}
	if err := p.keep(c); err != nil {
		return err
	}
	if err := p.working(); err != nil {
		return err
	}
	if p.driver, err = borrowed(c, &p.Lab, p.Addrs, p.given("lab")); err != nil {
		return err
	}
	if err := p.clocked(); err != nil {
		return err
	}
	if p.driver.Borrowed != nil {
		if p.database != "" {
			return usage("--store %s: the servers at --addrs keep locks only", p.store)
		}
		if len(p.ServerOptions) > 0 {
			return usage("--server-option %s: the servers at --addrs are yours, and run", p.ServerOptions[0])
		}
	}
	switch {
	case p.Processes < 1 || p.Processes > 100:
		return usage("--processes %d: from 1 to 100", p.Processes)
	case p.Clients < p.Processes || p.Clients > 1000:
		return usage("--clients %d: from one a process (%d) to 1000", p.Clients, p.Processes)
	case p.Require != "" && len(lb.UpTo(p.Require)) == 0:
		return usage("--require %s: SAFE, CHECK or FENCE", p.Require)
	case p.FaultsAtOnce < 1 || p.FaultsAtOnce > mostAtOnce:
		return usage("--faults-at-once %d: from 1 to %d", p.FaultsAtOnce, mostAtOnce)
	case p.TTL != 0 && p.TTL < 100*time.Millisecond || p.TTL > time.Hour:
		return usage("--ttl %v: from 100ms to 1h", p.TTL)
	case p.Duration < 0 || p.Duration > longest:
		return usage("--duration %v: from 0 to %v", p.Duration, longest)
	}
	if p.drawn = p.Seed == 0; p.drawn {
		p.Seed = 1 + uint64(time.Now().UnixNano())%1_000_000
	}
	if p.out == "" {
		p.out, p.ours = rundir.NewDir(what), true
	}
	return nil
}

// sharded is the part of the runs that NTH/OF says, of one seed on all machines.
func (p *planFlags) sharded(text string) (rundir.Shard, error) {
	shard, err := rundir.ParseShard(text)
	switch {
	case err != nil:
		return shard, usage("--%w", err)
	case p.drawn:
		return shard, usage("--shard %s without --seed, or with 0, which draws one: all shards need the same, and each would make up its own", text)
	}
	return shard, nil
}

// meet refuses several faults at once where none consists of several.
func (p *planFlags) meet(all ...faults.Fault) error {
	if p.FaultsAtOnce > 1 && !slices.ContainsFunc(all, func(f faults.Fault) bool { return f.Mix != nil }) {
		return usage("--faults-at-once %d: %s is one fault; random consists of several", p.FaultsAtOnce, all[0].Name)
	}
	return nil
}

// working refuses long work that makes no sense.
func (p *planFlags) working() error {
	switch _, err := faults.ParseLength(p.Work); {
	case p.Work == "" || p.Work == history.NoWork:
		return nil
	case err != nil:
		return usage("--work: %w; or %s", err, history.NoWork)
	case !p.work.Info().Long:
		return usage("--work %s: the workload %s has no long work", p.Work, p.Workload)
	}
	return nil
}

// clocked refuses clocks that the lab does not have. A plan says nothing of the usual one.
func (p *planFlags) clocked() error {
	switch p.Clocks {
	case history.OneClock:
		p.Clocks = ""
		return nil
	case history.Apart:
	default:
		return usage("--clocks %s: %s or %s", p.Clocks, history.OneClock, history.Apart)
	}
	if err := p.driver.Can(lab.OwnClocks); err != nil {
		return usage("--clocks %s: %w", p.Clocks, err)
	}
	return nil
}

// keep finds what keeps the fenced copy.
func (p *planFlags) keep(c Catalog) error {
	if p.store == inMemory {
		return nil
	}
	kind, err := c.Store(p.store)
	if err != nil {
		known := []string{inMemory}
		for _, k := range c.Stores {
			known = append(known, k.Name)
		}
		return usage("unknown store %q%s", p.store, english.Near(p.store, known))
	}
	if i := p.work.Info(); i.Needs.Shared || i.Decides {
		return usage("--store %s: what the workload %s keeps, only the store in memory can", p.store, i.Name)
	}
	p.Store, p.Statement, p.database = kind.Name, kind.Statement, kind.Topology
	return nil
}

// readyFor says whether this machine has what runs need: the locks' servers, as the user
// wants them, and the store's.
func (prog program) readyFor(ctx context.Context, p *planFlags, locks ...string) error {
	if err := p.ci.writable(p.out); err != nil {
		return err
	}
	slices.Sort(locks)
	if err := prog.ready(ctx, p.driver, slices.Compact(locks), catalog.Own(p.Plan), p.yes); err != nil || p.database == "" {
		return err
	}
	return prog.ready(ctx, p.driver, []string{p.database}, lab.Own{}, false)
}

// ready says whether this machine has the lab, with the servers of these topologies, as
// the user wants them.
func (p program) ready(ctx context.Context, driver lab.Driver, topologies []string, own lab.Own, yes bool) error {
	if err := own.Check(p.Topologies); err != nil {
		return usage("%w", err)
	}
	var kinds []lab.Kind
	var software []string
	for _, name := range topologies {
		t, err := named(p.Topology(name))
		if err != nil {
			return err
		}
		if t, err = t.With(own); err != nil {
			return usage("%w", err)
		}
		if err := driver.Serves(t); err != nil {
			return usage("%w", err)
		}
		if of := t.Kind.Software.Name; of != "" && !slices.Contains(software, of) {
			software = append(software, of)
		}
		known := slices.ContainsFunc(kinds, func(k lab.Kind) bool { return k.Name == t.Kind.Name })
		if t.Servers > 0 && !known {
			kinds = append(kinds, t.Kind)
		}
	}
	if len(own.Options) > 0 && len(software) > 1 {
		return usage("--server-option %s: to servers of %s and of %s? choose algorithms of one of them", own.Options[0], software[0], software[1])
	}
	if err := errors.Join(meant("server-binary", own.Binary, software), meant("image", own.Image, software)); err != nil {
		return err
	}
	if err := driver.Can(lab.OwnServers); err != nil && own.Binary != "" {
		return usage("--server-binary %s: %w", own.Binary, err)
	}
	if err := driver.Can(lab.OwnImages); err != nil && own.Image != "" {
		return usage("--image %s: %w", own.Image, err)
	}
	err := driver.Ready(ctx, kinds)
	if left := (*lab.OccupiedError)(nil); errors.As(err, &left) {
		err = clear(driver.Borrowed, kinds[0], left, yes)
	}
	if err != nil {
		return exit{exitCantRun, fmt.Errorf("this machine can't run it: %w", err)}
	}
	return nil
}

// meant refuses a flag of SOFTWARE=VALUE where no server is of that software.
func meant(flag, given string, all []string) error {
	of, _, _ := strings.Cut(given, "=")
	switch {
	case given == "" || slices.Contains(all, of):
		return nil
	case len(all) == 0:
		return usage("--%s %s: there are no servers here", flag, given)
	}
	return usage("--%s %s: the servers here are of %s", flag, given, english.Or(all))
}

// show writes the cells, each of so many planned runs, for people or for programs, and
// turns them into the exit code.
func show(cmd *cobra.Command, cells []checker.Cell, planned int, asJSON bool) error {
	err := ended(codeOfFindings(findings(cells)))
	if out := cmd.OutOrStdout(); asJSON {
		return errors.Join(printJSON(out, rundir.MatrixFile{Schema: history.Schema, Planned: planned, Cells: cells}), err)
	}
	return errors.Join(showMatrix(cmd.OutOrStdout(), cells, planned), err)
}

func showMatrix(out io.Writer, cells []checker.Cell, planned int) error {
	color, width := screen(out)
	return reports.Matrix(out, cells, planned, color, width)
}

// screen says whether colours can be seen, and how many columns there are.
func screen(out io.Writer) (color bool, width int) {
	width = 100
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		color = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			width = w
		}
	}
	return color, width
}

// below makes the cells' directories, which can be moved with their matrix, those of
// what is printed, which can't.
func below(dir string, cells []checker.Cell) []checker.Cell {
	cells = slices.Clone(cells)
	for i := range cells {
		if cells[i].Dir != "" {
			cells[i].Dir = filepath.Join(dir, filepath.FromSlash(cells[i].Dir))
		}
	}
	return cells
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
