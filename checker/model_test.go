package checker_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/testkit/shorthand"
)

// models are the layers that have one.
var models = map[string]func(history.Events, history.Plan) checker.Verdict{
	checker.LayerGrant:    modelGrant,
	checker.LayerBelief:   modelBelief,
	checker.LayerOverstay: modelOverstay,
	checker.LayerToken:    modelToken,
	checker.LayerStore:    modelStore,
	checker.LayerProgress: modelProgress,
}

// lopsided: of the histories of a focus, a tenth at least must come out either way.
var focused = map[string]string{
	checker.LayerGrant: "holds", checker.LayerBelief: "holds", checker.LayerOverstay: "writes",
	checker.LayerToken: "tokens", checker.LayerStore: "store", checker.LayerProgress: "progress",
}

func histories(t *testing.T, otherwise int) int {
	n := otherwise
	if s := os.Getenv("LOCKBENCH_HISTORIES"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatal("LOCKBENCH_HISTORIES:", err)
		}
	}
	return n
}

// TestRandomHistoriesAgainstModels compares the checkers with models that were made from
// docs/history.md alone. LOCKBENCH_HISTORIES says how many histories, and
// LOCKBENCH_SEED names the one to look at.
func TestRandomHistoriesAgainstModels(t *testing.T) {
	if s := os.Getenv("LOCKBENCH_SEED"); s != "" {
		seed, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal("LOCKBENCH_SEED:", err)
		}
		s := makeSample(seed)
		t.Logf("%s", tell(s))
		if err := compare(t.Context(), s, true, nil); err != nil {
			small, err := shrink(t.Context(), s, err)
			t.Errorf("seed %d: %v\n%s", seed, err, tell(small))
		}
		return
	}
	n := uint64(histories(t, 30_000))
	// An index takes room for a long history at once. So many of them are quicker with a
	// collector that rarely looks.
	defer debug.SetGCPercent(debug.SetGCPercent(2000))
	var next, wrong atomic.Uint64
	var mu sync.Mutex
	tally := map[string]int{}
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			mine := map[string]int{}
			for seed := next.Add(1); seed <= n && wrong.Load() < 10; seed = next.Add(1) {
				s := makeSample(seed)
				if err := compare(t.Context(), s, seed%50 == 0, mine); err != nil {
					wrong.Add(1)
					small, err := shrink(t.Context(), s, err)
					t.Errorf("seed %d: %v\n%s", seed, err, tell(small))
				}
			}
			mu.Lock()
			defer mu.Unlock()
			for k, v := range mine {
				tally[k] += v
			}
		})
	}
	wait.Wait()
	for layer, focus := range focused {
		total := tally[focus]
		valid, invalid := tally[focus+" "+layer+" valid"], tally[focus+" "+layer+" invalid"]
		t.Logf("%s: of %d, %d valid, %d invalid, %d undecided", layer, total, valid, invalid, tally[focus+" "+layer+" undecided"])
		if total >= 1000 && 10*min(valid, invalid) < total && wrong.Load() == 0 {
			t.Errorf("%s is lopsided", layer)
		}
	}
}

// compare judges a history both ways.
func compare(ctx context.Context, s sample, asText bool, tally map[string]int) error {
	var ix *history.Index
	var err error
	if asText {
		var b bytes.Buffer
		if err := history.WriteTo(&b, s.events); err != nil {
			return err
		}
		ix, err = history.ReadFrom(ctx, &b, "sample")
	} else {
		ix, err = history.Of(s.events)
	}
	if err != nil {
		return err
	}
	res := checker.Check(ctx, s.plan, ix)
	var wrong []string
	judged := 0
	for _, l := range res.Layers {
		model := models[l.Name]
		if model == nil {
			continue
		}
		judged++
		want, got := model(s.events, s.plan), l.Verdict
		// A layer that found nothing to look at found nothing wrong.
		if got == checker.Vacuous {
			got = checker.Valid
		}
		if want == checker.Vacuous {
			want = checker.Valid
		}
		if got != want {
			wrong = append(wrong, fmt.Sprintf("%s is %s (%s), the model says %s", l.Name, l.Verdict, l.Summary, want))
		}
		if tally != nil {
			tally[s.focus+" "+l.Name+" "+string(want)]++
		}
	}
	if judged != len(models) {
		wrong = append(wrong, fmt.Sprintf("only %d layers were judged", judged))
	}
	if tally != nil {
		tally[s.focus]++
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%s", strings.Join(wrong, "; "))
	}
	return nil
}

// about is what of a disagreement may change while it is made smaller.
var about = regexp.MustCompile(`\([^)]*\)`)

// shrink leaves out events, as long as the two still disagree on the same layers.
func shrink(ctx context.Context, s sample, err error) (sample, error) {
	for i := len(s.events) - 1; i >= 0; i-- {
		for width := 2; width >= 1; width-- {
			less := s
			less.events = slices.Concat(s.events[:i], s.events[min(i+width, len(s.events)):])
			if e := compare(ctx, less, false, nil); e != nil && about.ReplaceAllString(e.Error(), "") == about.ReplaceAllString(err.Error(), "") {
				s, err = less, e
				i = len(s.events)
				break
			}
		}
	}
	return s, err
}

func tell(s sample) string {
	words := ""
	if s.plan.Traits.Reentrant {
		words += "reentrant\n"
	}
	if n := s.plan.Traits.Permits; n > 0 {
		words += fmt.Sprintf("permits %d\n", n)
	}
	if s.plan.Traits.Fenced {
		words += "fenced\n"
	}
	if s.plan.GivesUp {
		words += "gives up\n"
	}
	if s.plan.Algorithm != "" {
		words += fmt.Sprintf("planned (TTL %v)\n", s.plan.TTL)
	}
	return words + shorthand.String(s.events)
}
