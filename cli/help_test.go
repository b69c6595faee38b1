package cli

import (
	"bytes"
	"context"
	"os/exec"
	"slices"
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/docs"
	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/internal/shell"
	"github.com/spf13/cobra"
)

// TestExamples: every verb explains itself, and each of its examples is what it would take:
// a shell reads them, the flags are there, and the names are known.
func TestExamples(t *testing.T) {
	p := program{things()}
	root := p.rootCommand()
	examples := 0
	for _, cmd := range append(root.Commands(), root) {
		if cmd.Hidden || cmd.Name() == "completion" || cmd.Name() == "help" {
			continue
		}
		if cmd.Long == "" || cmd.Example == "" {
			t.Errorf("%s: no long help, or no example", cmd.Name())
		}
		for line := range strings.Lines(cmd.Example) {
			for _, words := range commands(t, line) {
				examples++
				takes(t, p, words)
			}
		}
	}
	if examples < 20 {
		t.Errorf("only %d examples", examples)
	}
}

// commands has a shell read the line, in which lockbench only says what it was given. What
// it would read is empty.
func commands(t *testing.T, line string) (all [][]string) {
	t.Helper()
	script := `lockbench() { printf '%s\0' lockbench "$@" '' >&3; }; zcat() { :; }; cd "$1"; exec 3>said; ` + strings.TrimSpace(line)
	dir := t.TempDir()
	cmd := exec.Command("bash", "-euc", script, "bash", dir)
	cmd.Env = append(cmd.Environ(), "GITHUB_STEP_SUMMARY=summary")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	said, err := exec.Command("cat", dir+"/said").Output()
	if err != nil {
		t.Fatal(err)
	}
	for one := range strings.SplitSeq(string(said), "\x00\x00") {
		if words := strings.Split(one, "\x00"); words[0] == "lockbench" {
			all = append(all, words[1:])
		}
	}
	if len(all) != strings.Count(line, "lockbench ") {
		t.Fatalf("%s: %q", line, all)
	}
	return all
}

// takes parses a command as the program would.
func takes(t *testing.T, p program, words []string) {
	t.Helper()
	line := shell.Line(words...)
	cmd, rest, err := p.rootCommand().Find(words)
	if err != nil || cmd.Name() != words[0] {
		t.Fatalf("%s: %v", line, err)
	}
	if err := cmd.ParseFlags(rest); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
		t.Errorf("%s: %v", line, err)
	}
	known := func(flag string, err error) {
		if err != nil {
			t.Errorf("%s: --%s: %v", line, flag, err)
		}
	}
	value := func(flag string) string { s, _ := cmd.Flags().GetString(flag); return s }
	if cmd.Name() == "run" {
		impl, err := p.Lock(value("algorithm"))
		known("algorithm", err)
		fault, err := p.Fault(value("fault"))
		known("fault", err)
		s := faults.Setting{Lab: p.Labs[0], Topology: p.Topologies[1], Algorithm: impl.Info(), Workload: p.Workloads[0].Info()}
		if step := fault.Step(s); strings.Contains(value("fault"), "@") {
			all := append(s.Algorithm.Steps(), s.Workload.Steps...)
			if !strings.Contains(strings.Join(all, " ")+" ", step+" ") {
				t.Errorf("%s: no step %s", line, step)
			}
		}
	}
	if cmd.Name() == "matrix" {
		_, err := pick(value("algorithms"), p.Locks, func(l lb.Impl) string { return l.Info().Name }, p.Lock)
		known("algorithms", err)
		_, err = pick(value("faults"), p.Faults, func(f faults.Fault) string { return f.Name }, p.Fault)
		known("faults", err)
	}
}

// TestCompletion: the shell is offered names, the last of several, and the steps of the lock
// that was named.
func TestCompletion(t *testing.T) {
	for typed, want := range map[string]string{
		"run --algorithm redis-setpx-l":                            "redis-setpx-lua",
		"run --algorithm redis-setpx-lua --fault cut@":             "cut@after-compare-and-delete",
		"run --fault pause-h":                                      "pause-holder",
		"run --fault pause-holder,kill-l":                          "pause-holder,kill-leader",
		"run --algorithm redis-setpx-lua --fault kill-leader,cut@": "kill-leader,cut@after-set",
		"shri":                             "shrink",
		"matrix --algorithms none,redis-f": "none,redis-fenced",
		"matrix --faults kill-holder,":     "kill-holder,pause-holder",
		"run --workload ":                  "counter",
		"matrix --topology zookeeper-":     "zookeeper-3",
		"matrix --lab ":                    "docker",
		"run --workload once":              "once-key",
		"gate --":                          "--junit",
		"matrix --store my":                "mysql",
		"run --store ":                     "memory",
		"bench --baseline redis-f":         "redis-fenced",
		"serve --listen ":                  "127.0.0.1:0",
		"serv":                             "serve",
		"list ":                            "workloads",
		"list st":                          "stores",
		"comp":                             "completion",
		"help ce":                          "cells",
		"help gat":                         "gate",
		"explore --algorithm none,redis-f": "none,redis-fenced",
		"explore --topology zookeeper-":    "zookeeper-3",
	} {
		root := program{things()}.rootCommand()
		var out bytes.Buffer
		root.SetOut(&out)
		root.SetErr(&out)
		words := strings.Split(typed, " ")
		root.SetArgs(append([]string{cobra.ShellCompRequestCmd}, words...))
		if err := root.ExecuteContext(context.Background()); err != nil {
			t.Fatal(err)
		}
		found := false
		for line := range strings.Lines(out.String()) {
			name, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
			found = found || name == want
			if typed == "run --algorithm redis-setpx-lua --fault cut@" && name == "cut@after-setnx" {
				t.Errorf("%s: offers %s, a step of another lock", typed, name)
			}
		}
		if !found {
			t.Errorf("%s: %s is not offered in\n%s", typed, want, &out)
		}
	}
}

// TestHelp: each page of the manual is there by its topic and stands in the list, commands
// explain themselves, and a name that is neither leads to the nearest.
func TestHelp(t *testing.T) {
	help := func(args ...string) (string, error) {
		root := program{things()}.rootCommand()
		var out bytes.Buffer
		root.SetOut(&out)
		root.SetArgs(append([]string{"help"}, args...))
		err := root.ExecuteContext(context.Background())
		return out.String(), err
	}
	list, err := help()
	if err != nil || !strings.Contains(list, "Available Commands:") {
		t.Errorf("%v\n%s", err, list)
	}
	commands := verbs(program{things()}.rootCommand())
	for _, p := range docs.Pages() {
		if text, err := help(p.Topic); err != nil || text != p.Text || !strings.HasPrefix(text, "# "+p.Title+"\n") {
			t.Errorf("%s: %v\n%.80s", p.Topic, err, text)
		}
		if p.Part() {
			if strings.Contains(list, p.Topic) {
				t.Errorf("the list has %s, which another page lists", p.Topic)
			}
		} else if !strings.Contains(list, "  "+p.Topic+" ") || !strings.Contains(list, " "+p.Title+"\n") {
			t.Errorf("the list lacks %s", p.Topic)
		}
		if slices.Contains(commands, p.Topic) {
			t.Errorf("%s is a command, too", p.Topic)
		}
	}
	for args, want := range map[string]string{
		"docs/cells.md":   "# What a cell means",
		"gate":            "lockbench gate",
		"completion bash": "bash",
	} {
		if text, err := help(strings.Fields(args)...); err != nil || !strings.Contains(text, want) {
			t.Errorf("help %s: %v\n%s", args, err, text)
		}
	}
	for name, want := range map[string]string{"glosary": "did you mean glossary?", "matrx": "did you mean matrix?", "": "there are "} {
		if _, err := help(name); codeOf(err) != exitUsage || !strings.Contains(err.Error(), want) {
			t.Errorf("help %q: %v, want %s", name, err, want)
		}
	}
}
