package checker_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/testkit/shorthand"
)

// TestErringClocks: histories whose recorders have clocks that err within their bounds
// never show a violation that the true ones lack, nor are they refused.
func TestErringClocks(t *testing.T) {
	n := uint64(histories(t, 30_000) / 30)
	dir := t.TempDir()
	tally := map[string]int{}
	for seed := range n {
		s := makeSample(seed)
		if seed%3 == 0 && s.focus == "writes" {
			s.starve()
		}
		s.plan.Traits.Fair, s.plan.Traits.LostNotice, s.plan.Traits.Leased = true, true, true
		unit := lb.Instant(1)
		if s.focus == "progress" {
			unit = 250e6
		}
		for i := range s.events {
			ev := &s.events[i]
			for _, at := range []*lb.Instant{&ev.At, &ev.Until, &ev.Call} {
				if at == &ev.At || *at != 0 {
					*at += 1000 * unit
				}
			}
		}
		ix, err := history.Of(s.events)
		if err != nil {
			t.Fatal(err)
		}
		truth := checker.Check(t.Context(), s.plan, ix)
		seen, err := erring(t.Context(), dir, rand.New(rand.NewPCG(seed, 0x636c6f636b)), s, unit)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, shorthand.String(s.events))
		}
		// Where the machine is to blame, clocks that err are no reason to blame the lock.
		if truth.Starved != "" {
			if tally["excused"]++; slices.Contains([]lb.Outcome{lb.Check, lb.Fence, lb.Broken}, seen.Outcome) {
				t.Fatalf("seed %d: %s: %s, and was %s: %s\n%s", seed, seen.Outcome, seen.Reason, truth.Outcome, truth.Reason, shorthand.String(s.events))
			}
		}
		for i, l := range seen.Layers {
			if l.Verdict == checker.Undecided && strings.Contains(l.Summary, "bug") {
				t.Fatalf("seed %d: %s: %s\n%s", seed, l.Name, l.Summary, shorthand.String(s.events))
			}
			if truth.Layers[i].Verdict == checker.Invalid {
				tally[l.Name]++
			}
			if l.Verdict != checker.Invalid {
				continue
			}
			if tally[l.Name+" seen"]++; truth.Layers[i].Verdict != checker.Invalid {
				t.Fatalf("seed %d: %s is %s: %s, and was %s: %s\n%+v\n%s", seed, l.Name, l.Verdict, l.Summary,
					truth.Layers[i].Verdict, truth.Layers[i].Summary, s.plan.Traits, shorthand.String(s.events))
			}
		}
	}
	t.Log(tally)
	if n >= 10_000 && tally["excused"] == 0 {
		t.Error("none was excused")
	}
	for _, name := range []string{checker.LayerGrant, checker.LayerBelief, checker.LayerOverstay, checker.LayerToken, checker.LayerStore, checker.LayerProgress} {
		if n >= 1000 && tally[name+" seen"] < tally[name]/10 {
			t.Errorf("%s: of %d violations %d are still seen", name, tally[name], tally[name+" seen"])
		}
	}
}

// starve has no process run as long as the sample lasts: who outlives its lease can't help it.
func (s *sample) starve() {
	first, last := s.events[0].At, s.events[0].At
	for _, ev := range s.events {
		first, last = min(first, ev.At), max(last, ev.At)
	}
	var done []string
	for _, home := range homesOf(s.events) {
		if home != "" && !slices.Contains(done, home) {
			done = append(done, home)
		}
	}
	slices.Sort(done)
	for _, home := range done {
		s.events = append(s.events, history.Event{At: last, Kind: history.KindSilent, Worker: home, Call: first})
	}
}

// erring judges the sample as recorders with clocks of their own would have told it: one
// for each process, one for the store, and the runner's.
func erring(ctx context.Context, dir string, r *rand.Rand, s sample, unit lb.Instant) (checker.Result, error) {
	homes := homesOf(s.events)
	files, names := map[string]history.Events{}, []string{}
	for _, ev := range s.events {
		name := "runner"
		switch {
		case ev.Kind == history.KindRead || ev.Kind == history.KindWrite:
			name = "store"
		case ev.Client != "":
			if name = "of " + homes[ev.Client]; homes[ev.Client] == "" {
				name = "of " + ev.Client
			}
		case ev.Kind == history.KindSilent || ev.Kind == history.KindDead && r.IntN(2) == 0:
			name = "of " + ev.Worker
		}
		if files[name] == nil {
			names = append(names, name)
		}
		files[name] = append(files[name], ev)
	}
	slices.Sort(names) // at one instant, clients come before the runner and the store
	var paths []string
	for i, name := range names {
		var clock string
		var off, wrong lb.Instant
		if name != "runner" && r.IntN(4) > 0 {
			err := unit * lb.Instant(r.IntN(4))
			off = unit * lb.Instant(r.IntN(400)-200)
			if err > 0 {
				wrong = lb.Instant(r.Int64N(int64(2*err+1))) - err
			}
			clock = fmt.Sprintf(`,"clock":{"name":"host%d","offset_ns":%d,"error_ns":%d}`, i, off, err)
		}
		path := filepath.Join(dir, fmt.Sprintf("%d.jsonl", i))
		h := slices.Clone(files[name])
		for k := range h {
			for _, at := range []*lb.Instant{&h[k].At, &h[k].Until, &h[k].Call} {
				if at == &h[k].At || *at != 0 {
					*at += wrong - off
				}
			}
		}
		if err := history.Write(path, h); err != nil {
			return checker.Result{}, err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return checker.Result{}, err
		}
		text = []byte(strings.Replace(string(text), `"version":1`, `"version":1`+clock, 1))
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return checker.Result{}, err
		}
		paths = append(paths, path)
	}
	ix, err := history.ReadFiles(ctx, paths, nil)
	if err != nil {
		return checker.Result{}, err
	}
	return checker.Check(ctx, s.plan, ix), nil
}
