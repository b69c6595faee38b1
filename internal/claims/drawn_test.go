package main

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/testkit"
)

// drawn is how many statements are tried again.
const drawn = 10

// seedVar is the environment variable with the seed of the lot, to draw the same again.
const seedVar = "LOCKBENCH_CLAIMS_SEED"

// TestDrawn runs the commands of ten statements of surveys, drawn by lot, and those of all bugs, and compares what
// comes out with the page. One that is undecided this time, as on a busy machine, is tried once more.
func TestDrawn(t *testing.T) {
	if !testkit.All() {
		t.Log("left to make test-all: until then docs/claims.md and docs/bugs.md may say what lockbench no longer shows")
		return
	}
	testkit.Share(t, testkit.Places()) // figures of cost are no good beside others
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "lockbench")
	build := exec.Command("go", "build", "-o", program, "./cmd/lockbench")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	seed, err := strconv.ParseUint(os.Getenv(seedVar), 10, 64)
	if err != nil {
		seed = uint64(time.Now().UnixNano()) % 1_000_000
	}
	t.Logf("%s=%d draws the same again", seedVar, seed)
	surveys.holds(t, root, program, seed, drawn)
	bugs.holds(t, root, program, seed, math.MaxInt)
}

// holds tries up to n of its statements again.
func (k book) holds(t *testing.T, root, program string, seed uint64, n int) {
	docs, err := k.load()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, k.page))
	if err != nil {
		t.Fatal(err)
	}
	verdicts, ran := k.recorded(string(text)), map[string]*facts{}
	for _, c := range lot(docs, verdicts, seed, n) {
		got := again(t, program, c, ran)
		t.Logf("%s: %s, %v", c.ID, k.word(got.verdict), got.facts)
		if got.verdict != verdicts[c.ID] {
			t.Errorf("%s (lockbench %s): %s has %q, and now it is %q: %v", c.ID, c.Run, k.page, k.word(verdicts[c.ID]), k.word(got.verdict), got.facts)
		}
	}
}

// lot draws n from the statements that have a verdict and a command.
func lot(docs []document, verdicts map[string]verdict, seed uint64, n int) (list []claim) {
	for _, d := range docs {
		for _, c := range d.Claims {
			if c.Run != "" && slices.Contains(whole, verdicts[c.ID]) {
				list = append(list, c)
			}
		}
	}
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list[:min(len(list), n)]
}

// again judges a statement by another run of its command, which several of them may share.
func again(t *testing.T, program string, c claim, ran map[string]*facts) (j judgement) {
	for range 2 {
		if ran[c.Run] == nil {
			f, err := run(context.Background(), program, c.Run)
			if err != nil {
				t.Errorf("lockbench %s: %v", c.Run, err)
				return judgement{}
			}
			ran[c.Run] = f
		}
		if j = judge(c, ran[c.Run]); j.verdict != undecided {
			break
		}
		ran[c.Run] = nil
	}
	return j
}

// TestLot: the same seed draws the same, of what has a verdict.
func TestLot(t *testing.T) {
	docs, err := surveys.load()
	if err != nil {
		t.Fatal(err)
	}
	verdicts := map[string]verdict{}
	for i, c := range docs[0].Claims {
		verdicts[c.ID] = []verdict{confirmed, refuted, depends, undecided, notRun}[i%5]
	}
	one, same, other := lot(docs, verdicts, 1, drawn), lot(docs, verdicts, 1, drawn), lot(docs, verdicts, 2, drawn)
	ids := func(list []claim) (ids []string) {
		for _, c := range list {
			ids = append(ids, c.ID)
			if v := verdicts[c.ID]; v != confirmed && v != refuted && v != depends {
				t.Errorf("%s is drawn, and is %q", c.ID, v)
			}
		}
		return ids
	}
	if len(one) != drawn || !slices.Equal(ids(one), ids(same)) || slices.Equal(ids(one), ids(other)) {
		t.Errorf("%v, %v and %v", ids(one), ids(same), ids(other))
	}
}
