package jepsen

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/testkit/shorthand"
)

// judged is what the layers say that look at nothing but clients and their locks.
func judged(t *testing.T, ix *history.Index) (says []string) {
	t.Helper()
	plan := history.Plan{TTL: 1e9, Traits: lb.Traits{Leased: true}}
	for _, l := range checker.Check(t.Context(), plan, ix).Layers {
		switch l.Name {
		case checker.LayerGrant, checker.LayerBelief, checker.LayerToken, checker.LayerProgress, checker.LayerOrder:
			says = append(says, fmt.Sprintf("%s: %s, %d", l.Name, l.Verdict, l.Count))
		}
	}
	return says
}

// TestExport: what is exported and read again is judged alike.
func TestExport(t *testing.T) {
	files, err := filepath.Glob("../../checker/testdata/*.jsonl")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d histories, %v", len(files), err)
	}
	invalid := 0
	for _, file := range files {
		ix, err := history.Read(t.Context(), file)
		if err != nil {
			t.Fatal(err)
		}
		if len(ix.Doubts) > 0 {
			if err := Export(&bytes.Buffer{}, ix); err == nil || !strings.Contains(err.Error(), "not whole") {
				t.Errorf("%s is in doubt: %v", file, err)
			}
			continue
		}
		if says := again(t, file, ix); strings.Contains(strings.Join(says, ";"), "invalid") {
			invalid++
		}
	}
	if invalid < 4 {
		t.Errorf("%d of the histories show a violation", invalid)
	}
}

// again exports and reads, and wants what was judged before.
func again(t *testing.T, name string, ix *history.Index) []string {
	t.Helper()
	var out bytes.Buffer
	if err := Export(&out, ix); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if !Is("stdin", out.Bytes()) {
		t.Errorf("%s: the export does not look like one of Jepsen", name)
	}
	asJepsen(t, name, out.String())
	ix2, err := ReadFrom(t.Context(), &out, name, Drop)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	want, got := judged(t, ix), judged(t, ix2)
	if !slices.Equal(want, got) {
		t.Errorf("%s: judged %q, and as an export %q", name, want, got)
	}
	return got
}

var operation = regexp.MustCompile(`:type :(\w+), :f :(\w+), :process (\d+),`)

// asJepsen holds an export to what Jepsen wants of a process: it ends what it has invoked
// before it invokes more, and does nothing after an :info.
func asJepsen(t *testing.T, name, text string) {
	t.Helper()
	open, over := map[string]string{}, map[string]bool{}
	for line := range strings.Lines(text) {
		m := operation.FindStringSubmatch(line)
		if m == nil {
			if !strings.Contains(line, ":process :nemesis") {
				t.Fatalf("%s: not an operation: %s", name, line)
			}
			continue
		}
		kind, f, process := m[1], m[2], m[3]
		if over[process] || kind == "invoke" && open[process] != "" || kind != "invoke" && open[process] != f {
			t.Fatalf("%s: process %s can't do that: %s", name, process, line)
		}
		open[process] = map[bool]string{true: f}[kind == "invoke"]
		over[process] = kind == "info"
	}
}

// TestExportRandom: so are histories that nobody has thought out.
func TestExportRandom(t *testing.T) {
	const seed = 11
	rnd := rand.New(rand.NewPCG(seed, 0))
	broke := 0
	for n := range 3000 {
		h := randomHistory(rnd)
		ix, err := history.Of(h)
		if err != nil {
			t.Fatalf("history %d of seed %d: %v", n, seed, err)
		}
		if len(ix.Doubts) > 0 {
			continue
		}
		if says := again(t, fmt.Sprintf("history %d of seed %d", n, seed), ix); strings.Contains(says[0], "invalid") {
			broke++
		}
	}
	if broke < 100 || broke > 2900 {
		t.Errorf("%d of 3000 histories break the lock: they say little", broke)
	}
}

// randomHistory is one of few clients, locks and instants, with every answer, leases,
// renewals, losses, calls that are never answered, and a death.
func randomHistory(rnd *rand.Rand) (h history.Events) {
	type client struct {
		name, lock, id string
		op             string // that is open
		holds, asked   bool
	}
	clients := []*client{{name: "w1.c0"}, {name: "w1.c1"}, {name: "w2.c0"}}
	now, serial, dead := lb.Instant(1000), 0, false
	for range 6 + rnd.IntN(18) {
		now += lb.Instant(rnd.IntN(3))
		c := clients[rnd.IntN(len(clients))]
		if dead && strings.HasPrefix(c.name, "w1") {
			continue
		}
		ev := history.Event{At: now, Client: c.name, Lock: c.lock, ID: c.id, Op: c.op}
		switch roll := rnd.IntN(20); {
		case roll == 0 && !dead:
			dead = true
			h = append(h, history.Event{At: now, Kind: history.KindDead, Worker: "w1"})
			continue
		case c.op != "" && roll < 18:
			ev.Kind = history.KindReturn
			ev.Result = []lb.Answer{lb.AnswerOK, lb.AnswerOK, lb.AnswerOK, lb.AnswerFailed, lb.AnswerUnknown}[rnd.IntN(5)]
			if c.op == history.OpRelease {
				ev.Result = lb.Answer(rnd.IntN(len(lb.Answers)))
			} else if c.holds = ev.Result == lb.AnswerOK; c.holds {
				ev.Token = uint64(serial)
				if rnd.IntN(2) == 0 {
					ev.Until = now + lb.Instant(1+rnd.IntN(9))
				}
			}
			c.op = ""
		case c.op == "" && c.asked && roll < 9:
			ev.Kind, ev.Op, c.op = history.KindCall, history.OpRelease, history.OpRelease
		case c.op == "" && c.holds && roll < 11:
			ev.Kind, ev.Until = history.KindRenew, now+lb.Instant(1+rnd.IntN(9))
		case c.op == "" && c.holds && roll < 12:
			ev.Kind = history.KindLost
		default: // also where the last call has no answer yet
			serial++
			c.lock, c.id, c.op, c.asked, c.holds = []string{"lock", "a b", `"`}[rnd.IntN(3)], fmt.Sprint("é", serial), history.OpAcquire, true, false
			ev = history.Event{At: now, Kind: history.KindCall, Client: c.name, Lock: c.lock, ID: c.id, Op: c.op, Shared: rnd.IntN(8) == 0}
		}
		h = append(h, ev)
	}
	if len(h) == 0 || h[0].Kind != history.KindCall {
		return randomHistory(rnd)
	}
	return append(h, history.Event{At: now + 5, Kind: history.KindEnd})
}

// TestExportFaultsAtOnce: faults that overlap are one to who reads the export, from the first
// strike to the last heal.
func TestExportFaultsAtOnce(t *testing.T) {
	ix, err := history.Of(shorthand.Must(`1 c A a;2 fault x strike;3 fault y strike;4 fault x healed;5 r A a ok;6 fault y healed;7 fault x strike;8 fault x healed;9 end`).Events)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := Export(&out, ix); err != nil {
		t.Fatal(err)
	}
	again, err := ReadFrom(t.Context(), &out, "stdin", Drop)
	if err != nil {
		t.Fatal(err)
	}
	var spans []history.Span
	for i := range again.Faults {
		s := again.Faults[i].Span()
		spans = append(spans, history.Span{From: s.From - again.Start, To: s.To - again.Start})
	}
	if want := []history.Span{{From: 1, To: 5}, {From: 6, To: 7}}; !slices.Equal(spans, want) {
		t.Errorf("in force during %v, want %v", spans, want)
	}
}

// TestExportBefore: what is told of the time before the first event is exported, and can be read again.
func TestExportBefore(t *testing.T) {
	ix, err := history.Of(shorthand.Must(`1000 silent w1 call=400;1001 c w1.c0 a;1002 r w1.c0 a ok until=600;1003 end`).Events)
	if err != nil {
		t.Fatal(err)
	}
	again(t, "a silence that is older than all events", ix)
	var out bytes.Buffer
	if err := Export(&out, ix); err != nil {
		t.Fatal(err)
	}
	back, err := ReadFrom(t.Context(), &out, "stdin", Drop)
	if err != nil {
		t.Fatal(err)
	}
	silences := back.SilencesOf("w1")
	if len(silences) != 1 || silences[0].To-silences[0].From != 600 || back.Acqs[0].Until-silences[0].From != 200 || back.Start != silences[0].To {
		t.Errorf("silent during %v from %d on, with a lease until %d", silences, back.Start, back.Acqs[0].Until)
	}
}
