package cli

import (
	"slices"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/lab"
	"github.com/lockbench/lockbench/workloads"
	"github.com/lockbench/lockbench/workloads/guard"
	"github.com/spf13/cobra"
)

// complete teaches the shell's completion the names that flags and arguments take.
func (p program) complete(root *cobra.Command) {
	locks := namesOf(p.Locks, func(l lb.Impl) (string, string) { return l.Info().Name, l.Info().Doc })
	all := namesOf(slices.Concat(p.Faults, p.More), func(f faults.Fault) (string, string) { return f.Name, f.Doc })
	columns := namesOf(p.Faults, func(f faults.Fault) (string, string) { return f.Name, f.Doc })
	stores := append(namesOf(p.Stores, func(k guard.Database) (string, string) { return k.Name, k.Doc }), cobra.CompletionWithDesc(inMemory, memoryDoc))
	some := map[string]cobra.CompletionFunc{
		"algorithm":  one(locks),
		"fault":      p.faultAt(all),
		"algorithms": many(locks),
		"faults":     many(columns),
		"workload":   one(namesOf(p.Workloads, func(w workloads.Workload) (string, string) { return w.Info().Name, w.Info().Doc })),
		"store":      one(stores),
		"baseline":   one(locks),
		"topology":   one(namesOf(p.Topologies, func(t lab.Topology) (string, string) { return t.Name, t.Doc })),
		"listen":     one([]string{"127.0.0.1:0", localAddress}),
		"lab":        one(namesOf(p.Labs, func(d lab.Driver) (string, string) { return d.Name, d.Doc })),
	}
	if cmd, _, err := root.Find([]string{"explore"}); err == nil { // whose flags take others: the first to register counts
		_ = cmd.RegisterFlagCompletionFunc("algorithm", many(locks))
		_ = cmd.RegisterFlagCompletionFunc("workload", one(explore.Workloads()))
	}
	for _, cmd := range root.Commands() {
		for flag, f := range some {
			if cmd.Flags().Lookup(flag) != nil {
				_ = cmd.RegisterFlagCompletionFunc(flag, f) // an error says only that it has one
			}
		}
	}
}

func namesOf[T any](list []T, name func(T) (name, doc string)) (names []string) {
	for _, x := range list {
		n, doc := name(x)
		names = append(names, cobra.CompletionWithDesc(n, doc))
	}
	return names
}

func one(names []string) cobra.CompletionFunc {
	return cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp)
}

// many completes the last of comma-separated names.
func many(names []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		before := typed[:strings.LastIndex(typed, ",")+1]
		var found []string
		for _, n := range names {
			found = append(found, before+n)
		}
		return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

// faultAt completes a fault's name, the last of several, and behind the @ the steps of the
// algorithm that was given, or else of all, and of the workload.
func (p program) faultAt(names []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		end := strings.LastIndex(typed, "@")
		if end <= strings.LastIndex(typed, ",") {
			return many(names)(cmd, nil, typed)
		}
		fault := typed[:end]
		algorithm, _ := cmd.Flags().GetString("algorithm")
		var steps []string
		for _, l := range p.Locks {
			if i := l.Info(); algorithm == "" || i.Name == algorithm {
				steps = append(steps, i.Steps()...)
			}
		}
		for _, w := range p.Workloads {
			steps = append(steps, w.Info().Steps...)
		}
		var found []string
		for _, s := range steps {
			if s = fault + "@" + s; !slices.Contains(found, s) {
				found = append(found, s)
			}
		}
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}
