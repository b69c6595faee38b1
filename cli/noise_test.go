package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/cost"
	"github.com/lockbench/lockbench/internal/gate"
	"github.com/lockbench/lockbench/internal/testkit"
)

// asSlower makes this program a build in which redis-setpx-lua became slower.
const asSlower = "LOCKBENCH_TEST_SLOWER"

// slower is a lock of which every request takes 30% longer, with all that a client does for
// it: it works for so long before it goes on.
type slower struct{ lb.Impl }

func (s slower) Open(ctx context.Context, env *lb.Env) (lb.Client, error) {
	own := *env
	own.Probe = &laggard{Probe: env.Probe}
	return s.Impl.Open(ctx, &own)
}

// laggard is the probe of one client, which passes its steps in turn.
type laggard struct {
	lb.Probe
	before time.Time // the last step
}

func (l *laggard) Step(ctx context.Context, m lb.Move) error {
	err := l.Probe.Step(ctx, m)
	now := time.Now()
	if m.Name != lb.After("set") && m.Name != lb.After("compare-and-delete") {
		l.before = now
		return err
	}
	for longer := now.Sub(l.before) * 3 / 10; time.Since(now) < longer; {
	}
	return err
}

// slowedDown are the locks of such a build.
func slowedDown(locks []lb.Impl) []lb.Impl {
	if os.Getenv(asSlower) != "" {
		for i, l := range locks {
			if l.Info().Name == "redis-setpx-lua" {
				locks[i] = slower{l}
			}
		}
	}
	return locks
}

// TestNoise compares benchmarks of one build, which must differ by nothing that counts, and
// those of a build that is 30% slower, which must be seen. LOCKBENCH_NOISE_PAIRS, the number
// of pairs, shows how sure that is, with a quarter as many tries of the slower build: see
// make noise.
func TestNoise(t *testing.T) {
	if !testkit.All() {
		t.Log("left to make test-all: until then a comparison of real benchmarks may be deaf, or cry, and only made-up ones were compared")
		return
	}
	t.Parallel()
	needLab(t, 2)
	pairs, tries, budget := 1, 3, "12s"
	many, err := strconv.Atoi(os.Getenv("LOCKBENCH_NOISE_PAIRS"))
	if err == nil {
		pairs, tries, budget = many, max(1, many/4), "18s"
	}
	dir, n := t.TempDir(), 0
	measure := func(slower bool) string {
		n++
		name := fmt.Sprintf("b%d", n)
		cmd := testkit.Command(t, dir, "bench", "--short", "--algorithms", "redis-setpx-lua", "--rounds", "30", "--budget", budget, "--ttl", "500ms", "--out", name)
		if slower {
			cmd.Env = append(cmd.Env, asSlower+"=1")
		}
		if code, _, stderr := testkit.Ran(t, cmd); code != exitKept {
			t.Fatalf("bench: exit code %d\n%s", code, stderr)
		}
		return name
	}
	quiet := 0
	for i := range pairs {
		code, stdout, _ := testkit.Ran(t, testkit.Command(t, dir, "compare", measure(false), measure(false)))
		if code == exitKept {
			quiet++
		} else {
			t.Errorf("pair %d, of the same build: exit code %d\n%s", i+1, code, stdout)
		}
	}
	seen := 0
	for range tries {
		base, head := measure(false), measure(true)
		code, stdout, stderr := testkit.Ran(t, testkit.Command(t, dir, "compare", "--json", base, head))
		cycle := cycleOf(t, stdout)
		t.Logf("exit code %d, the cycle in memory takes %.2f times as long (%.2f to %.2f)", code, cycle.Ratio, cycle.Low, cycle.High)
		switch {
		case code == exitSlow:
			seen++
		case code != exitKept:
			t.Errorf("exit code %d\n%s", code, stderr)
		}
		if seen > 0 && many == 0 {
			break
		}
	}
	t.Logf("of %d pairs of one build %d ended with 0; of %d tries of a slower one %d ended with 3", pairs, quiet, tries, seen)
	if seen == 0 || many > 0 && seen <= tries/2 {
		t.Errorf("a build that is 30%% slower was seen in %d of %d tries", seen, tries)
	}
}

func cycleOf(t *testing.T, stdout string) *cost.Difference {
	t.Helper()
	var all struct{ Performance gate.Performance }
	if err := json.Unmarshal([]byte(stdout), &all); err != nil {
		t.Fatal(err)
	}
	for _, f := range all.Performance.Figures {
		if f.Key == cost.Uncontended("redis-setpx-lua", cost.Memory) && f.Measure == cost.Cycle && f.Relative != nil {
			return f.Relative.Difference
		}
	}
	t.Fatalf("no cycle was compared:\n%s", stdout)
	return nil
}
