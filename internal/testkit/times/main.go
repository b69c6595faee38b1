// Command times runs the tests and says which of them take the time, and whether they wait or
// work: make test-times. Its arguments are those of go test.
//
//	go run ./internal/testkit/times -count=1 ./...
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/lockbench/lockbench/internal/testkit"
)

const (
	module = "github.com/lockbench/lockbench"
	// workVar names the file into which this program, between go test and a test's binary,
	// writes what processor time that took.
	workVar = "LOCKBENCH_TEST_WORK"
	slowest = 50 // tests that are told
)

func main() {
	if file := os.Getenv(workVar); file != "" && len(os.Args) > 1 {
		os.Exit(worked(file, os.Args[1:]))
	}
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "times:", err)
		os.Exit(1)
	}
}

// worked runs one test binary, and notes its processor time and that of all that it has
// started and waited for.
func worked(file string, argv []string) int {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	var all syscall.Rusage
	if err := errors.Join(syscall.Getrusage(syscall.RUSAGE_CHILDREN, &all), note(file, filepath.Base(argv[0]), all)); err != nil {
		fmt.Fprintln(os.Stderr, "times:", err)
	}
	if err != nil && cmd.ProcessState == nil {
		fmt.Fprintln(os.Stderr, "times:", err)
		return 1
	}
	return cmd.ProcessState.ExitCode()
}

func note(file, name string, u syscall.Rusage) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	dir, err := os.Getwd() // go test runs each in the directory of its package
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s %s %d\n", dir, name, u.Utime.Nano()+u.Stime.Nano())
	return errors.Join(err, f.Close())
}

// event is a line of go test -json.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

func run(args []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "lockbench-times-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	work := filepath.Join(dir, "work")
	cmd := exec.Command("go", append([]string{"test", "-json", "-exec", self}, args...)...)
	cmd.Env, cmd.Stderr = append(os.Environ(), workVar+"="+work), os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return err
	}
	all, err := read(out, os.Stdout)
	failed := errors.Join(err, cmd.Wait())
	text, err := os.ReadFile(work)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	all.print(os.Stdout, workOf(string(text)), time.Since(start))
	return failed
}

// took is how long packages and tests took, in seconds.
type took struct {
	packages, tests map[string]float64
	waited          map[string]float64 // for places, by test
}

// read repeats what failing tests print, and the end of each package.
func read(in io.Reader, out io.Writer) (took, error) {
	all := took{map[string]float64{}, map[string]float64{}, map[string]float64{}}
	said := map[string][]string{}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		var e event
		if json.Unmarshal(line, &e) != nil {
			fmt.Fprintf(out, "%s", line) // of a build that failed
			continue
		}
		test := e.Package + " " + e.Test
		switch e.Action {
		case "output":
			said[test] = append(said[test], e.Output)
			if _, rest, ok := strings.Cut(e.Output, ": "+testkit.Waited); ok {
				var s float64
				_, _ = fmt.Sscan(rest, &s) // else it is not ours
				all.waited[test] += s
			}
		case "pass", "fail", "skip":
			if e.Test == "" {
				all.packages[e.Package] = e.Elapsed
			} else {
				all.tests[test] = e.Elapsed
			}
			if e.Action != "pass" || e.Test == "" {
				fmt.Fprint(out, strings.Join(said[test], ""))
			}
			delete(said, test)
		}
	}
}

// workOf is the processor time in seconds by package.
func workOf(notes string) map[string]float64 {
	of := map[string]float64{}
	root, err := os.Getwd()
	if err != nil {
		return of
	}
	for line := range strings.Lines(notes) {
		var dir, name string
		var ns int64
		if _, err := fmt.Sscan(line, &dir, &name, &ns); err != nil {
			continue
		}
		if rel, err := filepath.Rel(root, dir); err == nil {
			of[filepath.ToSlash(filepath.Join(module, rel))] += float64(ns) / 1e9
		}
	}
	return of
}

func (a took) print(w io.Writer, work map[string]float64, whole time.Duration) {
	var sum, working float64
	fmt.Fprintf(w, "\n%10s %10s  %s\n", "seconds", "working", "package (what it started and waited for works with it; packages overlap)")
	for _, p := range sorted(a.packages) {
		sum, working = sum+a.packages[p], working+work[p]
		if a.packages[p] >= 0.5 {
			fmt.Fprintf(w, "%10.1f %10.1f  %s\n", a.packages[p], work[p], strings.TrimPrefix(p, module+"/"))
		}
	}
	fmt.Fprintf(w, "%10.1f %10.1f  all, in %v\n\n%10s %10s  %s\n", sum, working, whole.Round(time.Second), "seconds", "waited", "test (it has waited for a place before)")
	own := map[string]float64{}
	for t, s := range a.tests {
		own[t] = s - a.waited[t]
	}
	for i, t := range sorted(own) {
		if i == slowest {
			break
		}
		fmt.Fprintf(w, "%10.1f %10.1f  %s\n", own[t], a.waited[t], strings.TrimPrefix(t, module+"/"))
	}
}

// sorted are the names, the slowest first.
func sorted(of map[string]float64) (names []string) {
	for name := range of {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(of[b], of[a]), cmp.Compare(a, b)) })
	return names
}
