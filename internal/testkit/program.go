package testkit

import (
	"flag"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// Program makes the test's own binary behave as a program: a lab starts its processes from
// the executable that runs, which in a test is the test. It returns if this process is to
// run tests. What go test starts has a flag of the testing package first; any other argument is
// the program's.
func Program(main func(args []string) (exit int)) {
	if len(os.Args) > 1 && !strings.HasPrefix(strings.TrimLeft(os.Args[1], "-"), "test.") {
		os.Exit(main(os.Args[1:]))
	}
}

// Main is the TestMain of packages whose tests run in labs, or on servers: see [Program].
func Main(m *testing.M, main func(args []string) (exit int)) {
	Program(main)
	Overlap(16)
	os.Exit(m.Run())
}

// Overlap lets n tests of one package run at once, or as many as there are processors if that
// is more, unless somebody has chosen with -parallel. Tests of locks do not work, they wait: for
// leases to end, or for nothing to happen. How much is asked of the machine, [Share] bounds.
func Overlap(n int) {
	flag.Parse()
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "test.parallel" })
	if !chosen {
		_ = flag.Set("test.parallel", strconv.Itoa(max(n, runtime.GOMAXPROCS(0))))
	}
}
