package cli

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/lockbench/lockbench/backends"
	"github.com/lockbench/lockbench/docker"
	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/impls/languages"
	"github.com/lockbench/lockbench/impls/redis"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/lab"
	"github.com/lockbench/lockbench/lab/external"
	"github.com/lockbench/lockbench/workloads"
	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	lockbench := func(args []string) int { return Main(args, things()) }
	testkit.Program(lockbench)
	testkit.Overlap(16)
	testscript.Main(m, map[string]func(){"lockbench": func() { os.Exit(lockbench(os.Args[1:])) }})
}

// things are what lockbench itself knows, and locks and faults that are not what they
// seem: a lock that panics, one that promises too much, and faults that do nothing.
func things() Catalog {
	return Catalog{Locks: append(slowedDown(impls.All()), panics{redis.SetPXLua()}, careless{redis.SetPXDel()}), Groups: impls.Groups(),
		Faults: faults.All(), More: append(faults.More(), disabled()...), Workloads: workloads.All(),
		Topologies: backends.Topologies(), Stores: backends.Stores(), Labs: []lab.Driver{lab.Local(), docker.Driver(), external.Driver()}, Templates: languages.Templates()}
}

// TestScripts holds the command line to its contract. See testdata/script.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:  filepath.Join("testdata", "script"),
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"codes": codes, "sample": sample},
	})
}

// codes runs lockbench and wants an exit code: codes 64 run --no-such-flag.
func codes(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec("lockbench", args[1:]...)
	got := "0"
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		got = strconv.Itoa(ended.ExitCode())
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != args[0] {
		ts.Fatalf("exit code %s, want %s", got, args[0])
	}
}
