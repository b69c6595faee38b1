package languages_test

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/languages"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
	"github.com/lockbench/lockbench/lab"
)

func TestMain(m *testing.M) {
	testkit.Program(labtest.Builtin)
	lab.Direct()
	testkit.Overlap(4) // a check starts some virtual machines
	os.Exit(m.Run())
}

// BenchmarkProtocol is what it costs that a lock is a program: cycles of redis-py's lock through
// the protocol and the gate, in turn with the same by itself. The ratio is the median of those
// of the rounds.
func BenchmarkProtocol(b *testing.B) {
	const cycles = 200
	servers := labtest.Endpoints(labtest.Servers(b, "redis"))
	alone := newAlone(b, servers[0])
	client, err := languages.RedisPy().Open(b.Context(), &lb.Env{Client: "c", Servers: servers, TTL: 10 * time.Second,
		Clock: lb.HostClock{}, Rand: rand.New(rand.NewPCG(1, 1))})
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	var own, through, ratios []float64
	n := 0
	for b.Loop() {
		o := alone(cycles)
		begin := time.Now()
		for range cycles {
			n++
			req := lb.Request{Lock: "lockbench-through", Owner: fmt.Sprintf("c.%d", n)}
			if _, err := client.Acquire(b.Context(), req); err != nil {
				b.Fatal(err)
			}
			if err := client.Release(b.Context(), req); err != nil {
				b.Fatal(err)
			}
		}
		t := float64(time.Since(begin)) / cycles
		own, through, ratios = append(own, o/cycles), append(through, t), append(ratios, t/(o/cycles))
	}
	b.ReportMetric(0, "ns/op") // an operation would be a round
	b.ReportMetric(median(own)/1e3, "µs/cycle-alone")
	b.ReportMetric(median(through)/1e3, "µs/cycle-through")
	b.ReportMetric(median(ratios), "through/alone")
}

func median(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}

// newAlone starts the library by itself; its result does so many cycles, and tells how many ns
// they took.
func newAlone(b *testing.B, server string) func(cycles int) float64 {
	cmd := exec.Command("testdata/alone.py", server)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	lines := bufio.NewReader(out)
	return func(cycles int) float64 {
		if _, err := io.WriteString(in, strconv.Itoa(cycles)+"\n"); err != nil {
			b.Fatal(err)
		}
		line, err := lines.ReadString('\n')
		if err != nil {
			b.Fatal(err)
		}
		ns, err := strconv.ParseFloat(strings.TrimSpace(line), 64)
		if err != nil {
			b.Fatal(err)
		}
		return ns
	}
}
