package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/cost"
	"github.com/lockbench/lockbench/internal/gate"
	"github.com/lockbench/lockbench/internal/testkit"
)

// asSlower makes this program a build in which redis-setpx-lua became slower, by so many percent.
const asSlower = "LOCKBENCH_TEST_SLOWER"

// slower is a lock of which every request takes so much longer, with all that a client does for
// it: it works for so long before it goes on.
type slower struct {
	lb.Impl
	percent int
}

func (s slower) Open(ctx context.Context, env *lb.Env) (lb.Client, error) {
	own := *env
	own.Probe = &laggard{Probe: env.Probe, percent: s.percent}
	return s.Impl.Open(ctx, &own)
}

// laggard is the probe of one client, which passes its steps in turn.
type laggard struct {
	lb.Probe
	percent int
	before  time.Time // the last step
}

func (l *laggard) Step(ctx context.Context, m lb.Move) error {
	err := l.Probe.Step(ctx, m)
	now := time.Now()
	if m.Name != lb.After("set") && m.Name != lb.After("compare-and-delete") {
		l.before = now
		return err
	}
	for longer := now.Sub(l.before) * time.Duration(l.percent) / 100; time.Since(now) < longer; {
	}
	return err
}

// slowedDown are the locks of such a build.
func slowedDown(locks []lb.Impl) []lb.Impl {
	if percent, err := strconv.Atoi(os.Getenv(asSlower)); err == nil {
		for i, l := range locks {
			if l.Info().Name == "redis-setpx-lua" {
				locks[i] = slower{l, percent}
			}
		}
	}
	return locks
}

// TestNoise compares benchmarks of one build, each with each, which must differ by nothing that counts, and
// those of a slower build, which must be seen. LOCKBENCH_NOISE, the number of either, shows how sure that is: see
// make noise.
func TestNoise(t *testing.T) {
	if !testkit.All() {
		t.Log("left to make test-all: until then a comparison of real benchmarks may be deaf, or cry, and only made-up ones were compared")
		return
	}
	t.Parallel()
	needLab(t, 2)
	benches, tries, enough, percent, rounds, budget, least := 2, 3, 1, "30", "30", "12s", "10%"
	if many, err := strconv.Atoi(os.Getenv("LOCKBENCH_NOISE")); err == nil {
		benches, tries, enough, percent, rounds, budget, least = many, many, many*9/10, "10", "200", "35s", "5%"
	}
	dir, n := t.TempDir(), 0
	measure := func(slower bool) string {
		n++
		name := fmt.Sprintf("b%d", n)
		cmd := testkit.Command(t, dir, "bench", "--short", "--algorithms", "redis-setpx-lua", "--rounds", rounds, "--budget", budget, "--ttl", "500ms", "--out", name)
		if slower {
			cmd.Env = append(cmd.Env, asSlower+"="+percent)
		}
		if code, _, stderr := testkit.Ran(t, cmd); code != exitKept {
			t.Fatalf("bench: exit code %d\n%s", code, stderr)
		}
		return name
	}
	compare := func(base, head string) (cries, cycle bool) {
		code, stdout, stderr := testkit.Ran(t, testkit.Command(t, dir, "compare", "--json", "--min-difference", least, base, head))
		if code != exitKept && code != exitSlow {
			t.Errorf("exit code %d\n%s", code, stderr)
		}
		d, worse := cycleOf(t, stdout)
		t.Logf("%s, %s: exit code %d, worse: %v; the cycle in memory takes %.2f times as long (%.2f to %.2f)", base, head, code, worse, d.Ratio, d.Low, d.High)
		return code == exitSlow, slices.Contains(worse, "memory cycle")
	}
	var all []string
	for range benches {
		all = append(all, measure(false))
	}
	pairs, cried := 0, 0
	for i, base := range all {
		for _, head := range all[i+1:] {
			pairs++
			if cries, _ := compare(base, head); cries {
				cried++
			}
		}
	}
	seen, tried := 0, 0
	for tried < tries && (benches > 2 || seen == 0) {
		if _, cycle := compare(all[tried%benches], measure(true)); cycle { // the crowd might cry by chance
			seen++
		}
		tried++
	}
	t.Logf("of %d pairs of one build %d raised an alarm; of %d tries of a build that is %s%% slower %d did", pairs, cried, tried, percent, seen)
	if cried > 0 {
		t.Errorf("%d of %d pairs of one build raised an alarm", cried, pairs)
	}
	if seen < enough {
		t.Errorf("a build that is %s%% slower was seen in %d of %d tries", percent, seen, tried)
	}
}

// cycleOf is how the cycle in memory differs, and which figures that decide are worse.
func cycleOf(t *testing.T, stdout string) (cycle *cost.Difference, worse []string) {
	t.Helper()
	var all struct{ Performance gate.Performance }
	if err := json.Unmarshal([]byte(stdout), &all); err != nil {
		t.Fatal(err)
	}
	for _, f := range all.Performance.Figures {
		if f.Decides && f.Trend == gate.Worse {
			worse = append(worse, fmt.Sprint(f.Servers, " ", f.Measure))
		}
		if f.Key == cost.Uncontended("redis-setpx-lua", cost.Memory) && f.Measure == cost.Cycle && f.Relative != nil {
			cycle = f.Relative.Difference
		}
	}
	if cycle == nil {
		t.Fatalf("no cycle was compared:\n%s", stdout)
	}
	return cycle, worse
}
