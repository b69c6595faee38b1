package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// packages are those whose tests must notice.
var packages = []string{"history", "checker"}

const (
	// slow is how long a test may take to be among those that are tried first.
	slow = 2 * time.Second
	// histories is how many random ones are judged: enough, since there are many mutants.
	histories = "20000"
)

// lab builds and runs the tests.
type lab struct {
	dir string
	// slow are the tests that are tried last.
	slow []string
}

// verdict is what became of a mutant: the test that killed it, or "".
type verdict struct {
	killer string
	err    error
}

func (v verdict) String() string {
	switch {
	case v.err != nil:
		return "error: " + v.err.Error()
	case v.killer != "":
		return "killed by " + v.killer
	}
	return "survived"
}

var passed = regexp.MustCompile(`(?m)^--- PASS: (\w+) \(([\d.]+s)\)`)

// calibrate runs all tests without a fault. They must pass, and those that take long
// will be tried last.
func (l *lab) calibrate(ctx context.Context) error {
	bin := filepath.Join(l.dir, "sound")
	for _, pkg := range packages {
		if err := l.build(ctx, bin, pkg, ""); err != nil {
			return err
		}
		out, err := l.run(ctx, bin, pkg, "-test.v")
		if err != nil {
			return fmt.Errorf("without any fault %s fails", failed(pkg, out))
		}
		for _, m := range passed.FindAllStringSubmatch(out, -1) {
			if took, err := time.ParseDuration(m[2]); err == nil && took > slow {
				l.slow = append(l.slow, m[1])
			}
		}
	}
	return os.RemoveAll(bin)
}

// judge runs the tests of one mutant in dir, which it takes away again. A fault may
// make a test endless: each round has its time.
func (l *lab) judge(ctx context.Context, dir string, m mutant) verdict {
	defer os.RemoveAll(dir)
	overlay, err := overlay(dir, m)
	if err != nil {
		return verdict{err: err}
	}
	mine, _, _ := strings.Cut(m.file, "/")
	order := slices.Clone(packages)
	if i := slices.Index(order, mine); i > 0 { // its own tests are the likeliest to notice
		order[0], order[i] = order[i], order[0]
	}
	late := "^(" + strings.Join(l.slow, "|") + ")$"
	for i, round := range [][]string{{"-test.skip=" + late, "-test.timeout=40s"}, {"-test.run=" + late, "-test.timeout=4m"}} {
		for _, pkg := range order {
			if i == 0 {
				if err := l.build(ctx, dir, pkg, overlay); err != nil {
					return verdict{err: err}
				}
			}
			out, err := l.run(ctx, dir, pkg, append(round, "-test.failfast")...)
			switch {
			case ctx.Err() != nil:
				return verdict{err: ctx.Err()}
			case err != nil:
				return verdict{killer: failed(pkg, out)}
			}
		}
	}
	return verdict{}
}

// overlay writes the file with the fault, and the word to the compiler where it belongs.
func overlay(dir string, m mutant) (string, error) {
	there, err := filepath.Abs(m.file)
	if err != nil {
		return "", err
	}
	here, file := filepath.Join(dir, filepath.Base(m.file)), filepath.Join(dir, "overlay.json")
	text, err := json.Marshal(map[string]map[string]string{"Replace": {there: here}})
	if err != nil {
		return "", err
	}
	return file, errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(here, []byte(m.text), 0o644), os.WriteFile(file, text, 0o644))
}

// build makes a program of the tests of a package, without what only debuggers need.
func (l *lab) build(ctx context.Context, dir, pkg, overlay string) error {
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-ldflags=-w", "-overlay", overlay, "-o", program(dir, pkg), "./"+pkg)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("does not compile: %w\n%s", err, out)
	}
	return nil
}

func program(dir, pkg string) string { return filepath.Join(dir, pkg+".test") }

// run runs the tests of a package as go test would.
func (l *lab) run(ctx context.Context, bin, pkg string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program(bin, pkg), args...)
	cmd.Dir = pkg
	cmd.Env = append(os.Environ(), "LOCKBENCH_HISTORIES="+histories)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

var (
	failure = regexp.MustCompile(`(?m)^--- FAIL: (\S+).*(?:\n    --- FAIL: (\S+))?`)
	endless = regexp.MustCompile(`running tests:\s+(\S+)`)
)

// failed is the first test of a package that failed, by the output of its tests.
func failed(pkg, out string) string {
	if m := endless.FindStringSubmatch(out); m != nil {
		return pkg + " " + m[1] + ", which does not end"
	}
	if m := failure.FindStringSubmatch(out); m != nil {
		return pkg + " " + cmp.Or(m[2], m[1])
	}
	line, _, _ := strings.Cut(out, "\n")
	return pkg + ", which crashes: " + line
}
