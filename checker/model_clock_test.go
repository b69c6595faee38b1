package checker_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/clock"
	"github.com/lockbench/lockbench/internal/testkit/shorthand"
)

// TestErringClocks: histories whose recorders have clocks that err within their bounds, now more and now less,
// and drift, never show a violation that the true ones lack, nor are they refused.
func TestErringClocks(t *testing.T) {
	n := uint64(histories(t, 30_000) / 30)
	dir := t.TempDir()
	tally := map[string]int{}
	for seed := range n {
		s := makeSample(seed)
		if seed%3 == 0 && s.focus == "writes" && len(s.events) > 0 {
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
		header, h := `"version":1`, slices.Clone(files[name])
		if name != "runner" && r.IntN(4) > 0 {
			header = own(r, h, unit, i)
		}
		path := filepath.Join(dir, fmt.Sprintf("%d.jsonl", i))
		if err := history.Write(path, h); err != nil {
			return checker.Result{}, err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return checker.Result{}, err
		}
		text = []byte(strings.Replace(string(text), `"version":1`, header, 1))
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

// own stamps events as a clock of its own would that errs now so, now so, and says what the header tells of it.
func own(r *rand.Rand, h history.Events, unit lb.Instant, i int) (header string) {
	l := clock.Line{Offset: time.Duration(unit) * time.Duration(r.IntN(400)-200), Error: time.Duration(unit) * time.Duration(r.IntN(4))}
	header = fmt.Sprintf(`"version":1,"clock":{"name":"host%d","offset_ns":%d,"error_ns":%d}`, i, l.Offset, l.Error)
	if r.IntN(2) == 0 {
		l.PPB, l.Strays = r.Int64N(100_000_000)-50_000_000, r.Int64N(20_000_000)
		l.From = 1000*unit - lb.Instant(l.Offset)
		l.To = l.From + unit*lb.Instant(r.IntN(100))
		l.Error++ // of times in whole ns
		header = fmt.Sprintf(`"version":2,"clock":{"name":"host%d","offset_ns":%d,"error_ns":%d,"drift_ppb":%d,"from_ns":%d,"to_ns":%d,"strays_ppb":%d}`,
			i, l.Offset, l.Error, l.PPB, l.From, l.To, l.Strays)
	}
	// Times that differ may not any more: then the lines tell what came first.
	slices.SortStableFunc(h, func(a, b history.Event) int { return cmp.Compare(a.At, b.At) })
	var all []*lb.Instant
	for k := range h {
		for _, at := range []*lb.Instant{&h[k].At, &h[k].Until, &h[k].Call} {
			if at == &h[k].At || *at != 0 {
				all = append(all, at)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *lb.Instant) int { return cmp.Compare(*a, *b) })
	shows, was := lb.Instant(0), lb.Instant(-1)
	for _, at := range all { // a clock that never goes back
		if truth := *at; truth != was {
			shows, was = max(shows, showing(r, l, truth)), truth
		}
		*at = shows
	}
	return header
}

// showing is what a clock may show at an instant: any time that is not too far from it.
func showing(r *rand.Rand, l clock.Line, truth lb.Instant) lb.Instant {
	shows := truth - lb.Instant(l.Offset)
	for range 20 { // the drift is small
		shows = truth - lb.Instant(l.At(shows))
	}
	far := lb.Instant(l.Err(shows))
	for {
		try := shows + lb.Instant(r.Int64N(int64(2*far+1))) - far
		if d := try + lb.Instant(l.At(try)) - truth; max(d, -d) <= lb.Instant(l.Err(try)) {
			return try
		}
	}
}

// TestErringExcuse: whoever breaks in under an ended lease for which the machine is to blame spoils the work of the next
// holder. Where clocks leave open who it was that broke in, that one is not to blame, either; but one who certainly held
// the lock did not break in, however little the machine let it run.
func TestErringExcuse(t *testing.T) {
	const intrudes = `1010 c w1.B b; 1020 r w1.B b ok until=1200
		1030 read w1.B b seq=1 plain=0
		1205 c w2.C c; 1210 r w2.C c ok until=1400
		1212 read w2.C c seq=2 plain=0
		1216 write w1.B b seq=3 plain=0/0/1; 1216 silent w1 call=1031
		1270 write w2.C c seq=4 plain=1/0/20
		1280 C w2.C c; 1285 R w2.C c ok`
	const holds = `1005 c w2.C c; 1007 r w2.C c ok until=1025
		1015 read w2.C c seq=1 plain=0
		1040 c w1.B b; 1050 r w1.B b ok until=1090; 1055 renew w1.B b until=1900
		1060 read w1.B b seq=2 plain=0
		1110 silent w1 call=1061
		1120 write w1.B b seq=3 plain=0/0/1
		1170 write w2.C c seq=4 plain=1/0/20`
	// One that was frozen, and hears of it when it goes on, was late long before the store was.
	const frozen = `1005 c w2.C c; 1007 r w2.C c ok until=1025
		1015 read w2.C c seq=1 plain=0
		1040 c w1.B b; 1050 r w1.B b ok until=1900
		1060 read w1.B b seq=2 plain=0
		1100 write w1.B b seq=3 plain=0/0/1
		1168 lost w2.C c
		1169 silent store call=1160
		1170 write w2.C c seq=4 plain=1/0/20`
	for _, tt := range []struct {
		text, clock string
		want        lb.Outcome
	}{
		{frozen, "", lb.Broken}, {frozen, `,"clock":{"name":"b","error_ns":9}`, lb.Broken},
		{intrudes, "", lb.Inconclusive}, {intrudes, `,"clock":{"name":"b","error_ns":9}`, lb.Inconclusive},
		{holds, "", lb.Broken}, {holds, `,"clock":{"name":"b","error_ns":9}`, lb.Broken},
	} {
		events := shorthand.Must(tt.text).Events
		path := filepath.Join(t.TempDir(), "h.jsonl")
		if err := history.Write(path, events); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.Replace(string(text), `"version":1`, `"version":1`+tt.clock, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
		ix, err := history.Read(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		plan := history.Plan{Algorithm: "a", Fault: "none", TTL: 30}
		if res := checker.Check(t.Context(), plan, ix); res.Outcome != tt.want || (res.Starved != "") != (tt.want == lb.Inconclusive) {
			t.Errorf("%+v: %s: %s", tt, res.Outcome, res.Reason)
		}
	}
}
