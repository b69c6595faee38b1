package main

import (
	"context"
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

// TestDrawn runs the commands of ten statements, drawn by lot, and compares what comes out with the
// page. One that is undecided this time, as on a busy machine, is tried once more.
func TestDrawn(t *testing.T) {
	if !testkit.All() {
		t.Log("left to make test-all: until then docs/claims.md may say what lockbench no longer shows")
		return
	}
	testkit.Share(t, testkit.Places()) // figures of cost are no good beside others
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	docs, err := load()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, pageFile))
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
	ran := map[string]*facts{}
	for _, c := range lot(docs, recorded(string(text)), seed) {
		want := recorded(string(text))[c.ID]
		got := again(t, program, c, ran)
		t.Logf("%s: %s, %v", c.ID, got.verdict, got.facts)
		if got.verdict != want {
			t.Errorf("%s (lockbench %s): %s has %q, and now it is %q: %v", c.ID, c.Run, pageFile, want, got.verdict, got.facts)
		}
	}
}

// lot draws from the statements that have a verdict and a command.
func lot(docs []document, verdicts map[string]verdict, seed uint64) (list []claim) {
	for _, d := range docs {
		for _, c := range d.Claims {
			if c.Run != "" && slices.Contains(whole, verdicts[c.ID]) {
				list = append(list, c)
			}
		}
	}
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list[:min(len(list), drawn)]
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
	docs, err := load()
	if err != nil {
		t.Fatal(err)
	}
	verdicts := map[string]verdict{}
	for i, c := range docs[0].Claims {
		verdicts[c.ID] = []verdict{confirmed, refuted, depends, undecided, notRun}[i%5]
	}
	one, same, other := lot(docs, verdicts, 1), lot(docs, verdicts, 1), lot(docs, verdicts, 2)
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
