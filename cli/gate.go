package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/internal/gate"
	"github.com/lockbench/lockbench/internal/run"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/reports"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// gateFile is the file that says what to run and what must hold.
const gateFile = "lockbench.yaml"

// gateRun is the gate at work.
type gateRun struct {
	program
	config string
	flags  matrixFlags
	shard  string
	seed   string // in place of the file's
}

func (prog program) gateCommand() *cobra.Command {
	g := gateRun{program: prog}
	cmd := &cobra.Command{
		Use:   "gate [DIR|FILE…]",
		Short: "Say with the exit code whether every promise held",
		Long: `gate runs what ` + gateFile + ` says, or judges the runs, matrices and explorations in the given
directories (all shards of a matrix together), and holds them to what the file and the
locks promise, and the benchmarks there to the file's limits. What --json of matrix, gate or
bench has printed into a file is judged, too, by the worst run of each cell. Each reason to
fail is printed with the lock, the mechanism and the command that reproduces it.

A promise that broke fails the gate, and so does a known break that is no longer seen:
then the bench went blind. Without the file only what the locks declare counts, of the
directories. docs/lockbench.example.yaml explains the file.

--shard 2/3 does the second of three parts of what the file says, each on a machine of its
own with the same --seed, and judges nothing: gate with the directories of all does.

` + exitCodes,
		Example: `  lockbench gate
  lockbench gate --config ci/lockbench.yaml --junit lockbench.xml --summary summary.md
  lockbench gate runs/latest
  lockbench gate --shard 1/3 --seed 7 --out shard-1
  lockbench gate shard-1 shard-2 shard-3
  lockbench bench --out perf && lockbench gate runs/latest perf`,
		RunE: func(cmd *cobra.Command, dirs []string) error {
			if len(dirs) == 0 {
				return g.all(cmd)
			}
			if g.shard != "" || g.seed != "" {
				return usage("--shard and --seed: gate runs something where it gets no directory, and judges what is in %s", strings.Join(dirs, ", "))
			}
			if g.flags.out != "" {
				return usage("--out: gate writes a directory where it runs something, and judges what is in %s", strings.Join(dirs, ", "))
			}
			return promptly(cmd.Context(), func() error { return g.recorded(cmd, dirs) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&g.config, "config", gateFile, "what to run and what must hold")
	f.StringVar(&g.flags.out, "out", "", "the directory to write (default: runs/<time>-gate)")
	f.StringVar(&g.shard, "shard", "", "do only this part of the runs, as NTH/OF, such as 2/3, and judge nothing")
	f.StringVar(&g.seed, "seed", "", "seed of the runs, in place of the file's")
	f.BoolVar(&g.flags.json, "json", false, "one JSON object on standard output: see docs/cells.schema.json")
	g.flags.ci.add(cmd, true)
	return cmd
}

// all runs what the file says, and judges it.
func (g *gateRun) all(cmd *cobra.Command) error {
	conf, err := gate.Load(g.config)
	if errors.Is(err, fs.ErrNotExist) {
		return usage("there is no %s, which says what to run, and no directory to judge; docs/lockbench.example.yaml is such a file", g.config)
	} else if err != nil {
		return usage("%w", err)
	}
	m, err := g.matrixOf(cmd.Context(), conf)
	if err != nil {
		return err
	}
	for i, a := range m.Algorithms {
		m.Algorithms[i] = promising{a, conf, m}
	}
	m.ForGate = true
	if err := g.part(m); err != nil {
		return err
	}
	cells, failed := g.runMatrix(cmd, m, &g.flags, func() ([]checker.Cell, error) { return m.Run(cmd.Context(), g.flags.out) })
	if cells == nil {
		return failed
	}
	var explorations []*rundir.Explored
	var notExplored error
	if m.Shard.Nth <= 1 {
		explorations, notExplored = g.explore(cmd, conf)
	}
	tell, noPage := leave(cmd, &g.flags.planFlags)
	if m.Shard.Of > 0 {
		tell()
		return errors.Join(failed, notExplored, noPage)
	}
	places, _, err := gate.Read([]string{g.flags.out})
	if err == nil {
		err = g.judge(cmd, conf, places, explorations, gate.Benches{}, m.Runs)
	}
	tell()
	return worse(err, errors.Join(failed, notExplored, noPage))
}

// part is the shard of what the file says that is to be done.
func (g *gateRun) part(m *run.Matrix) (err error) {
	if g.shard == "" {
		return nil
	}
	if m.Shard, err = g.flags.sharded(g.shard); err != nil {
		return err
	}
	if g.flags.json || g.flags.ci.junit+g.flags.ci.csv != "" {
		return usage("--shard %s judges nothing: leave out --json, --junit and --csv, and give them to lockbench gate with the directories of all shards", g.shard)
	}
	return nil
}

// explore explores what the file says, into the directory of the matrix, whose page tells of it. What comes
// of it is judged by the file, not by its exit code.
func (g *gateRun) explore(cmd *cobra.Command, conf gate.Config) ([]*rundir.Explored, error) {
	for i, x := range conf.Explore {
		args := []string{"--matrix", g.flags.out}
		for _, key := range slices.Sorted(maps.Keys(x.Run)) {
			text, err := plain(x.Run[key])
			if err != nil {
				return nil, conf.At(fmt.Sprintf("$.explore[%d].run.%s", i, key), err)
			}
			args = append(args, "--"+key+"="+text)
		}
		explore := g.program.exploreCommand()
		explore.SetArgs(args)
		explore.SetOut(cmd.ErrOrStderr())
		explore.SetErr(cmd.ErrOrStderr())
		explore.SilenceErrors, explore.SilenceUsage = true, true
		switch err := explore.ExecuteContext(cmd.Context()); codeOf(err) {
		case exitKept, exitBroke, exitUndecided:
		case exitUsage:
			return nil, conf.At(fmt.Sprintf("$.explore[%d].run", i), err)
		default:
			return nil, err
		}
	}
	return rundir.ExploredIn(g.flags.out)
}

// recorded judges what is in directories. What the file names and they lack is no data.
func (g *gateRun) recorded(cmd *cobra.Command, dirs []string) error {
	conf, err := gate.Load(g.config)
	if errors.Is(err, fs.ErrNotExist) && !cmd.Flags().Changed("config") {
		conf, err = gate.Config{}, nil
	}
	if err != nil {
		return usage("%w", err)
	}
	m, err := g.matrixOf(cmd.Context(), conf)
	if err != nil {
		return err
	}
	dirs, saved, err := apart(dirs)
	if err != nil {
		return err
	}
	var explorations []*rundir.Explored
	for _, dir := range dirs {
		some, err := rundir.ExploredIn(dir)
		if err != nil {
			return err
		}
		explorations = append(explorations, some...)
	}
	dirs, measured, err := sorted(dirs, saved)
	if err != nil {
		return err
	}
	if measured.Before, err = conf.Earlier(); err != nil {
		return err
	}
	var places []*gate.Place
	if len(dirs) > 0 {
		var notes []string
		if places, notes, err = gate.Read(dirs); err != nil {
			return err
		}
		note(cmd, notes)
	}
	for _, s := range saved {
		places = append(places, gate.Saved(s)...)
	}
	if places, err = gate.Once(places); err != nil {
		return usage("%w", err)
	}
	if conf.Run["algorithms"] != nil || conf.Run["faults"] != nil {
		places = lacking(places, m)
	}
	return g.judge(cmd, conf, places, explorations, measured, 0)
}

// judge shows the places, of so many planned runs each, and what they and the benchmarks do
// to the gate.
func (g *gateRun) judge(cmd *cobra.Command, conf gate.Config, places []*gate.Place, explorations []*rundir.Explored, measured gate.Benches, planned int) error {
	cells, found := conf.Judge(places, explorations, func(dir string) string { return shellLine("explore", "--replay", dir) }, measured)
	for i, f := range found {
		for _, c := range cells {
			if c.Row() == f.Algorithm && c.Fault == f.Fault && f.Limit == "" {
				found[i].Again = againIn(c.Dir)
			}
		}
	}
	all := reports.Gated{Cells: gate.Only(cells), Planned: planned, Findings: found, Exit: codeOfFindings(found)}
	out := cmd.OutOrStdout()
	var wrote error
	if g.flags.json {
		wrote = all.JSON(out)
	} else {
		if len(cells) > 0 {
			wrote = showMatrix(out, all.Cells, planned)
		}
		color, width := screen(out)
		wrote = errors.Join(wrote, all.Terminal(out, color, width))
	}
	return worse(ended(all.Exit), errors.Join(wrote, g.flags.ci.write(all)))
}

// runKeys are the flags of lockbench matrix that the file may set.
var runKeys = []string{"algorithms", "exec", "faults", "runs", "jobs", "seed", "duration", "ttl", "clients", "processes", "clocks", "faults-at-once", "workload", "work", "store", "lab", "addrs", "topology", "server-option", "server-binary", "image", "until", "budget"}

// matrixOf is what the file says is to be run. What is wrong is told with its line.
func (g *gateRun) matrixOf(ctx context.Context, conf gate.Config) (*run.Matrix, error) {
	var scratch cobra.Command
	out, json, ci := g.flags.out, g.flags.json, g.flags.ci
	g.flags.add(&scratch, g.Catalog) // sets the defaults, and those of others, too
	g.flags.out, g.flags.json, g.flags.ci = out, json, ci
	for _, key := range slices.Sorted(maps.Keys(conf.Run)) {
		where := "$.run." + key
		if !slices.Contains(runKeys, key) {
			return nil, conf.At("$.run", fmt.Errorf("unknown key %q%s", key, english.Near(key, runKeys)))
		}
		if err := set(scratch.Flags(), key, conf.Run[key]); err != nil {
			return nil, conf.At(where, err)
		}
	}
	if g.seed != "" {
		if err := scratch.Flags().Set("seed", g.seed); err != nil {
			return nil, usage("--seed: %w", err)
		}
	}
	m, err := g.matrix(ctx, &g.flags, "gate")
	if err != nil && len(conf.Run) > 0 {
		return nil, conf.At(blamed(conf, err), err)
	}
	return m, err
}

// set gives the flag what the file says: each item of a list, where it may be repeated.
func set(flags *pflag.FlagSet, key string, v any) error {
	items, list := v.([]any)
	if !list || flags.Lookup(key).Value.Type() != "stringArray" {
		items = []any{v}
	}
	for _, item := range items {
		text, err := plain(item)
		if err == nil {
			err = flags.Set(key, text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// plain is a value of the file as a flag has it.
func plain(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", errors.New("it has no value")
	case []any:
		var items []string
		for _, x := range v {
			s, err := plain(x)
			if err != nil {
				return "", err
			}
			items = append(items, s)
		}
		return strings.Join(items, ","), nil
	case map[string]any:
		return "", errors.New("a value or a list of values is wanted")
	}
	return fmt.Sprint(v), nil
}

// blamed is the key that an error about a flag or a name is about.
func blamed(conf gate.Config, err error) string {
	for key := range conf.Run {
		what := strings.TrimSuffix(key, "s")
		if strings.HasPrefix(err.Error(), "--"+key+" ") || strings.HasPrefix(err.Error(), "unknown "+what+" ") {
			return "$.run." + key
		}
	}
	return "$.run"
}

// promising is a lock that promises what the file says, so that its runs' plans do.
type promising struct {
	lb.Impl
	conf gate.Config
	m    *run.Matrix
}

func (p promising) Info() lb.Info {
	info := p.Impl.Info()
	var expect []lb.Expectation
	for _, f := range p.m.Faults {
		if e, _ := p.conf.Expect(info.Name, f.Name, info.Expected(f.Name)); e != nil {
			one := *e
			one.Fault = f.Name
			expect = append(expect, one)
		}
	}
	info.Expect = expect
	return info
}
