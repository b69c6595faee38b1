package history_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
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
	for clock, why := range map[string]string{
		`{"offset_ns":1}`:                                "a clock needs name",
		`{"name":"b","error_ns":-1}`:                     "out of range",
		`{"name":"b","error_ns":600000000000000000}`:     "out of range",
		`{"name":"b","offset_ns":4700000000000000000}`:   "out of range",
		`{"name":"b","offset_ns":-4700000000000000000}`:  "out of range",
		`{"name":"b","offset_ns":1.5}`:                   "clock: ",
		`{"name":1}`:                                     "clock: ",
		`7`:                                              "clock: ",
		`{"name":"b","offset_ns":-1010}`:                 "the time 1010 is out of range",
		`{"name":"b","offset_ns":-1007,"error_ns":3}`:    "the time 1010 is out of range",
		`{"name":"b","offset_ns":4611686018427386800}`:   "is out of range",
		`{"name":"b","offset_ns":-1009}`:                 "",
		`{"name":"b","offset_ns":-1006,"error_ns":3}`:    "",
		`{"name":"b","more":[1],"error_ns":5,"ppm":"2"}`: "",
	} {
		path := withClock(t, strings.Replace(erring, `{"name":"b","offset_ns":-1000,"error_ns":3}`, clock, 1), everything)
		_, err := history.Read(t.Context(), path)
		_, followed := history.Follow(filepath.Dir(path)).Next()
		for _, err := range []error{err, followed} {
			if (err == nil) != (why == "") || err != nil && !strings.Contains(err.Error(), why) {
				t.Errorf("%s: %v, want %q", clock, err, why)
			}
		}
	}
}
