package history_test

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/clock"
	"github.com/lockbench/lockbench/internal/testkit/shorthand"
)

const erring = `{"lockbench":"history","version":1,"clock":{"name":"b","offset_ns":-1000,"error_ns":3}}`

// withClock writes events as a recorder whose clock errs.
func withClock(t *testing.T, header, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "b.jsonl")
	if err := history.Write(path, shorthand.Must(text).Events); err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, lines, _ := strings.Cut(string(written), "\n")
	if err := os.WriteFile(path, []byte(header+"\n"+lines), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

const everything = `1010 c w.A a
	1020 r w.A a ok until=1300
	1030 renew w.A a until=1400 call=1025
	1040 lost w.A a
	1050 read w.A a seq=1 plain=0
	1060 C w.A a
	1070 R w.A a lost
	1080 silent v call=1075
	1090 fault cut strike
	1100 fault cut healed
	1110 act restart s begin
	1120 act restart s end
	1125 failed w.A
	1130 dead w
	1140 end`

// TestClock: each time is brought to the common clock, and moved by the error to where it
// says less.
func TestClock(t *testing.T) {
	ix, err := history.Read(t.Context(), withClock(t, erring, everything))
	if err != nil {
		t.Fatal(err)
	}
	a := &ix.Acqs[0]
	renewals, releases := slices.Collect(ix.Renewals(a)), slices.Collect(ix.Releases(a))
	for _, tt := range []struct {
		name      string
		got, want lb.Instant
	}{
		{"call", a.Call, 7}, {"return", a.Return, 23}, {"until", a.Until, 297}, {"lost", a.Lost, 37},
		{"renewal", renewals[0].At, 27}, {"its until", renewals[0].Until, 397},
		{"access", ix.Accesses[0].At, 47},
		{"release", releases[0].Call, 57}, {"its return", releases[0].Return, 73},
		{"strike", ix.Faults[0].Strike, 87}, {"healed", ix.Faults[0].Healed, 103},
		{"begin", ix.Acts[0].Begin, 107}, {"end", ix.Acts[0].End, 123},
		{"death", ix.Dead(a), 127}, {"end of the run", ix.End, 137}, {"error", ix.Error, 3},
	} {
		if tt.got != tt.want {
			t.Errorf("%s is at %d, want %d", tt.name, tt.got, tt.want)
		}
	}
	i := slices.IndexFunc(ix.Workers, func(w history.Worker) bool { return w.Name == "v" })
	if got := ix.Workers[i].Silences; !slices.Equal(got, []history.Span{{From: 72, To: 83}}) {
		t.Errorf("silences %v", got)
	}
}

// TestClockFollowed: whoever follows a run gets the same times.
func TestClockFollowed(t *testing.T) {
	path := withClock(t, erring, everything)
	h, err := history.Follow(filepath.Dir(path)).Next()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range h {
		if e.Until != 0 || e.Call != 0 {
			got = append(got, fmt.Sprintf("%s %d %d %d", e.Kind, e.At, e.Until, e.Call))
		} else {
			got = append(got, fmt.Sprintf("%s %d", e.Kind, e.At))
		}
	}
	want := []string{"call 7", "return 23 297 0", "renew 27 397 22", "lost 37", "read 47", "call 57", "return 73", "silent 83 0 72",
		"fault 87", "fault 103", "act 107", "act 123", "failed 122", "dead 127", "end 137"}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestClockRefused: a clock that makes no sense, or that moves events out of all time.
func TestClockRefused(t *testing.T) {
	const two = `,"offset_ns":-5,"from_ns":1000,"to_ns":1100,"drift_ppb":5,"strays_ppb":5`
	for clock, why := range map[string]string{
		`{"name":"b","offset_ns":-1009,"from_ns":0,"to_ns":2000,"drift_ppb":-90000000}@1`: "", // it means nothing there
		`{"name":"b","offset_ns":-1009,"from_ns":0,"to_ns":2000,"drift_ppb":-90000000}@2`: "is out of range",
		`{"name":"b"` + two + `}@2`:                                   "",
		`{"name":"b","offset_ns":-5,"from_ns":1100,"to_ns":1000}@2`:   "the one not after the other",
		`{"name":"b","offset_ns":-5,"from_ns":-1,"to_ns":1000}@2`:     "which are times",
		`{"name":"b","from_ns":1,"to_ns":4611686018427387905}@2`:      "which are times",
		`{"name":"b","from_ns":1,"to_ns":2,"drift_ppb":100000001}@2`:  "its drift",
		`{"name":"b","from_ns":1,"to_ns":2,"drift_ppb":-100000001}@2`: "its drift",
		`{"name":"b","from_ns":1,"to_ns":2,"strays_ppb":-1}@2`:        "how far it strays",
		`{"name":"b","from_ns":1,"to_ns":2,"strays_ppb":100000001}@2`: "how far it strays",
		`{"name":"b"` + two + `,"error_ns":3,"likely_ns":4}@2`:        "what is likely",
		`{"name":"b"` + two + `,"error_ns":3,"likely_ns":-1}@2`:       "what is likely",
		`{"name":"b"` + two + `}@3`:                                   "history version 3",
		`{"offset_ns":1}`:                                             "a clock needs name",
		`{"name":"b","error_ns":-1}`:                                  "out of range",
		`{"name":"b","error_ns":600000000000000000}`:                  "out of range",
		`{"name":"b","offset_ns":4700000000000000000}`:                "out of range",
		`{"name":"b","offset_ns":-4700000000000000000}`:               "out of range",
		`{"name":"b","offset_ns":1.5}`:                                "clock: ",
		`{"name":1}`:                                                  "clock: ",
		`7`:                                                           "clock: ",
		`{"name":"b","offset_ns":-1010}`:                              "the time 1010 is out of range",
		`{"name":"b","offset_ns":-1007,"error_ns":3}`:                 "the time 1010 is out of range",
		`{"name":"b","offset_ns":4611686018427386800}`:                "is out of range",
		`{"name":"b","offset_ns":-1009}`:                              "",
		`{"name":"b","offset_ns":-1006,"error_ns":3}`:                 "",
		`{"name":"b","more":[1],"error_ns":5,"ppm":"2"}`:              "",
	} {
		clock, version, _ := strings.Cut(clock, "@")
		header := strings.Replace(erring, `{"name":"b","offset_ns":-1000,"error_ns":3}`, clock, 1)
		header = strings.Replace(header, `"version":1`, `"version":`+cmp.Or(version, "1"), 1)
		path := withClock(t, header, everything)
		_, err := history.Read(t.Context(), path)
		_, followed := history.Follow(filepath.Dir(path)).Next()
		for _, err := range []error{err, followed} {
			if (err == nil) != (why == "") || err != nil && !strings.Contains(err.Error(), why) {
				t.Errorf("%s: %v, want %q", clock, err, why)
			}
		}
	}
}

// TestOwnClock: what a recorder with a clock of its own has written is read when it is known how that differs, and
// not before.
func TestOwnClock(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "b.jsonl")
	rec, err := history.CreateOwn(path, `the "second"`, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range shorthand.Must("1010 c w.A a; 1020 r w.A a ok until=1300").Events {
		rec.Record(ev)
	}
	follower := history.Follow(dir)
	if h, err := follower.Next(); len(h) > 0 || err != nil {
		t.Errorf("before it is known: followed %v, %v", h, err)
	}
	const unknown = "was not compared with the others"
	if _, err := history.Read(t.Context(), path); err == nil || !strings.Contains(err.Error(), unknown) {
		t.Errorf("before it is known: read with %v", err)
	}
	ix, err := history.ReadFiles(t.Context(), []string{path}, nil)
	if err != nil || len(ix.Doubts) != 1 || !strings.Contains(ix.Doubts[0], unknown) || len(ix.Acqs) > 0 {
		t.Errorf("before it is known: doubts %v, %v", ix, err)
	}
	line := clock.Line{Offset: -500, PPB: -50_000_000, From: 1500, To: 1600, Error: 3, Strays: 10_000_000, Likely: 2}
	if err := history.SetClock(path, `the "second"`, &line); err != nil {
		t.Fatal(err)
	}
	rec.Record(shorthand.Must("1600 end").Events[0])
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	// 1010 and 1020 are shown as 1515 and 1530, the lease's end as 1950 and the run's as 2400.
	if ix, err = history.Read(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	// The run's end is known least: 3 ± 1% of 2400-1600.
	if ix.Error != 11 || ix.Clocks != 1 {
		t.Errorf("%d clocks err by %d", ix.Clocks, ix.Error)
	}
	a := &ix.Acqs[0]
	for name, at := range map[string][2]lb.Instant{
		"call": {a.Call, 1515 - 500 - 0 - 11}, "return": {a.Return, 1530 - 500 - 1 + 11},
		"until": {a.Until, 1950 - 505 - 11}, "end": {ix.End, 2400 - 505 - 11},
	} {
		if at[0] != at[1] {
			t.Errorf("%s is at %d, want %d", name, at[0], at[1])
		}
	}
	h, err := follower.Next()
	if err != nil || len(h) != 3 {
		t.Errorf("followed %v, %v", h, err)
	}
	for errs, want := range map[history.ClockErrors]lb.Instant{{Likely: true}: 2, {Least: 7}: 15, {Least: 3}: 11} {
		ix, err := errs.ReadFiles(t.Context(), []string{path}, nil)
		if err != nil || ix.Error != want {
			t.Errorf("%+v: %v, want %d", errs, ix.Error, want)
		}
	}
}

// TestClockStrays: where the last event is known least, the first may have been before all time.
func TestClockStrays(t *testing.T) {
	const header = `{"lockbench":"history","version":2,"clock":{"name":"b","offset_ns":-1006,"error_ns":3,"from_ns":1010,"to_ns":1010,"strays_ppb":100000000}}`
	_, err := history.Read(t.Context(), withClock(t, header, everything))
	if at := (*history.LineError)(nil); !errors.As(err, &at) || at.Line != 1 || !strings.Contains(err.Error(), "the time 4 is out of range") {
		t.Error(err)
	}
}

// TestLongLease: the end of a lease that nothing can be compared with makes no clock err more, and one that something
// can be does so no more than needed.
func TestLongLease(t *testing.T) {
	const header = `{"lockbench":"history","version":2,"clock":{"name":"b","offset_ns":-1000,"error_ns":3,"from_ns":1000,"to_ns":2000,"strays_ppb":100000000}}`
	for _, tt := range []struct {
		text, runner string
		want         lb.Instant // error
		until        lb.Instant
	}{
		{"1110 c w.A a; 1120 r w.A a ok until=9000", "1 end", 3, 8000 - 3},
		{"1110 c w.A a; 1120 r w.A a ok until=2100", "1 end", 3, 1100 - 3},
		{"1110 c w.A a; 1120 r w.A a ok until=2100", "1500 end", 13, 1100 - 13},
		// 2000 was 1000 ± 3: at 1503 at most, so much as 2562 may have been shown.
		{"1110 c w.A a; 1120 r w.A a ok until=9000", "1500 end", 60, 8000 - 60},
	} {
		own := withClock(t, header, tt.text)
		runner := withClock(t, `{"lockbench":"history","version":1}`, tt.runner)
		ix, err := history.ReadFiles(t.Context(), []string{own, runner}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if ix.Error != tt.want || ix.Acqs[0].Until != tt.until {
			t.Errorf("%s, %s: the error is %d, want %d; the lease ends at %d, want %d", tt.text, tt.runner, ix.Error, tt.want, ix.Acqs[0].Until, tt.until)
		}
	}
}

// TestLikely: however little clocks are taken to err, what came of something is put behind it.
func TestLikely(t *testing.T) {
	const header = `{"lockbench":"history","version":2,"clock":{"name":"b","offset_ns":-1000,"error_ns":20,"likely_ns":1,"from_ns":1000,"to_ns":2000}}`
	own := withClock(t, header, "1110 c w.A a; 1120 r w.A a ok until=1500; 1150 C w.A a; 1160 R w.A a ok")
	store := withClock(t, `{"lockbench":"history","version":1}`, "105 read w.A a seq=1 plain=0; 140 dead w")
	ix, err := history.ClockErrors{Likely: true}.ReadFiles(t.Context(), []string{own, store}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if ix.Error != 1 || ix.Accesses[0].At != 105 || ix.Workers[0].Dead != 140 {
		t.Errorf("the error is %d; read at %d, dead at %d", ix.Error, ix.Accesses[0].At, ix.Workers[0].Dead)
	}
}
