package jepsen

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
)

func verdicts(t *testing.T, path string, reading Reading) (grant, belief checker.Layer, notes []string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ix, err := ReadFrom(t.Context(), f, path, reading)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range checker.Check(t.Context(), history.Plan{}, ix).Layers {
		switch l.Name {
		case checker.LayerGrant:
			grant = l
		case checker.LayerBelief:
			belief = l
		}
	}
	return grant, belief, ix.Notes
}

// TestBothReadings judges one history under both readings of its failed release.
func TestBothReadings(t *testing.T) {
	for _, file := range []string{"testdata/lease-ran-out.edn", "testdata/lease-ran-out.json"} {
		grant, belief, notes := verdicts(t, file, Drop)
		if grant.Verdict != checker.Invalid || grant.Count != 1 || belief.Verdict != checker.Invalid {
			t.Errorf("%s, dropped: grant %+v, belief %+v", file, grant, belief)
		}
		want := "process 1 was granted the lock at 2.100 s while process 0 still held it"
		if s := grant.Findings[0].Sentence; !strings.HasPrefix(s, want) || !strings.Contains(s, "nemesis was in force from 0.100 s to 2.000 s") {
			t.Errorf("%s: %s", file, s)
		}
		if said := strings.Join(notes, "\n"); !strings.Contains(said, "1 failed release (\"not held\") of an open hold was dropped") ||
			!strings.Contains(said, "--failed-release=ends") || !strings.Contains(said, "1 failed release by a process that held nothing") {
			t.Errorf("%s: notes %s", file, said)
		}
		grant, belief, notes = verdicts(t, file, Ends)
		if grant.Verdict != checker.Valid || belief.Verdict != checker.Valid {
			t.Errorf("%s, as an end: grant %+v, belief %+v", file, grant, belief)
		}
		if said := strings.Join(notes, "\n"); !strings.Contains(said, "1 failed release (\"not held\") of an open hold counts as its end") ||
			!strings.Contains(said, "--failed-release=drop") {
			t.Errorf("%s: notes %s", file, said)
		}
	}
}

// TestRecordedHistory judges the recorded history of an etcd mutex, where it lies
// beside the project.
func TestRecordedHistory(t *testing.T) {
	const path = "../../../shared/histories/jepsen-etcd-mutex.edn"
	if _, err := os.Stat(path); err != nil {
		t.Logf("not judged, since it is not here: %s", path)
		return
	}
	for reading, want := range map[Reading]checker.Verdict{Drop: checker.Invalid, Ends: checker.Valid} {
		grant, belief, notes := verdicts(t, path, reading)
		if grant.Verdict != want || belief.Verdict != checker.Valid {
			t.Errorf("%s: grant %+v, belief %+v", reading, grant, belief)
		}
		if !strings.Contains(belief.Summary, "132 grants, never two at once that exclude each other") {
			t.Errorf("%s: %s", reading, belief.Summary)
		}
		for _, f := range grant.Findings {
			if !f.Confirmed {
				t.Errorf("%s: not confirmed: %s", reading, f.Sentence)
			}
		}
		t.Logf("%s: %s, %s\n%s", reading, grant.Verdict, grant.Summary, strings.Join(notes, "\n"))
	}
}

// ops writes a history without times: "0 invoke acquire" a line.
func ops(lines ...string) string {
	var b strings.Builder
	for _, line := range lines {
		var process, kind, f string
		fmt.Sscan(line, &process, &kind, &f)
		fmt.Fprintf(&b, "{:process %s, :type :%s, :f :%s, :value nil}\n", process, kind, f)
	}
	return b.String()
}

func TestAcquisitions(t *testing.T) {
	acquire := func(n string) []string { return []string{n + " invoke acquire", n + " ok acquire"} }
	release := func(n string) []string { return []string{n + " invoke release", n + " ok release"} }
	join := func(all ...[]string) (out []string) {
		for _, s := range all {
			out = append(out, s...)
		}
		return out
	}
	tests := []struct {
		name  string
		lines []string
		ids   string // of each event
		grant checker.Verdict
	}{
		{"in turn", join(acquire("0"), release("0"), acquire("1"), release("1")), "a1 a1 a1 a1 a2 a2 a2 a2", checker.Valid},
		{"a failed acquire does not hide the hold", join(acquire("0"), []string{"0 invoke acquire", "0 fail acquire"}, release("0"), acquire("1")),
			"a1 a1 a2 a2 a1 a1 a3 a3", checker.Valid},
		{"nor does an unclear one", join(acquire("0"), []string{"0 invoke acquire", "0 info acquire"}, release("0"), acquire("1")),
			"a1 a1 a2 a2 a1 a1 a3 a3", checker.Valid},
		{"a release of an unclear acquire", join([]string{"0 invoke acquire", "0 info acquire"}, release("0"), acquire("1")), "a1 a1 a1 a1 a2 a2", checker.Valid},
		{"a release of nothing", join(release("0"), acquire("1")), "a1 a1 a2 a2", checker.Invalid},
		{"an unclear release", join(acquire("0"), []string{"0 invoke release", "0 info release"}, acquire("1")), "a1 a1 a1 a1 a2 a2", checker.Valid},
		{"never released", join(acquire("0"), acquire("1")), "a1 a1 a2 a2", checker.Invalid},
		{"never answered", join([]string{"0 invoke acquire"}, acquire("1")), "a1 a2 a2", checker.Valid},
		{"granted twice without a release", join(acquire("0"), acquire("0"), release("0")), "a1 a1 a2 a2 a2 a2", checker.Invalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h, _, err := Parse(ops(tt.lines...), "h", Drop)
			if err != nil {
				t.Fatal(err)
			}
			var ids []string
			for i, ev := range h {
				ids = append(ids, ev.ID)
				if i > 0 && ev.At <= h[i-1].At {
					t.Errorf("event %d does not come after the one before", i)
				}
			}
			if got := strings.Join(ids, " "); got != tt.ids {
				t.Errorf("ids %s, want %s", got, tt.ids)
			}
			ix, err := history.Of(h)
			if err != nil {
				t.Fatal(err)
			}
			if l := checker.Check(t.Context(), history.Plan{}, ix).Layers[0]; l.Verdict != tt.grant {
				t.Errorf("grant: %+v", l)
			}
		})
	}
}

func TestFormats(t *testing.T) {
	text := func(name string) string {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	edn, json := text("lease-ran-out.edn"), text("lease-ran-out.json")
	want, _, err := Parse(edn, "lease-ran-out.edn", Drop)
	if err != nil {
		t.Fatal(err)
	}
	ednLines := strings.NewReplacer("[{", "{", "\"], :index 11}]", "\"], :index 11}").Replace(edn)
	for name, text := range map[string]string{
		"EDN": edn, "EDN in a list": strings.NewReplacer("[{", "({", "11}]", "11})").Replace(edn), "EDN, one after the other": ednLines,
		"EDN of records": strings.ReplaceAll(ednLines, "{:type", "#jepsen.history.Op{:extra #{\\a #_b 1/2} :type"),
		"JSON":           json, "JSON lines": strings.NewReplacer("[\n", "", "},", "}", "}\n]", "}\n").Replace(json),
		"JSON with colons": strings.NewReplacer(`"type"`, `":type"`, `"invoke"`, `":invoke"`, `"acquire"`, `":acquire"`, `"not-held"`, `":not-held"`).Replace(json),
	} {
		h, _, err := Parse(text, name, Drop)
		if err != nil || !reflect.DeepEqual(h, want) {
			t.Errorf("%s: %v\n%+v\nwant %+v", name, err, h, want)
		}
		if !Is("history", []byte(text)) {
			t.Errorf("%s is not recognized", name)
		}
	}
	for name, head := range map[string]string{"h.jsonl": `{"lockbench":"history","version":1}` + "\n" + `{"e":"invoke"}`, "h.txt": "", "h.json": `{"e":"end"}`} {
		if Is(name, []byte(head)) {
			t.Errorf("%q is taken for a history of Jepsen", head)
		}
	}
	if !Is("h.edn", nil) {
		t.Error("the name .edn is not recognized")
	}
}

func TestManyLocks(t *testing.T) {
	h, _, err := Parse(`{:type :invoke :f :acquire :process 0 :value ["k1" nil]} {:type :invoke :f :acquire :process 1 :value [2 nil]}`, "h", Drop)
	if err != nil || h[0].Lock != "k1" || h[1].Lock != "2" {
		t.Errorf("%+v, %v", h, err)
	}
}

// TestHoldsOfTwoLocks: a process that holds two locks gives each back by itself.
func TestHoldsOfTwoLocks(t *testing.T) {
	op := func(kind, f, lock string) string {
		return fmt.Sprintf("{:type :%s :f :%s :process 0 :value [%q nil]}\n", kind, f, lock)
	}
	both := func(f, lock string) string { return op("invoke", f, lock) + op("ok", f, lock) }
	text := both("acquire", "A") + both("acquire", "B") + both("release", "A") + both("release", "B")
	ix, err := ReadFrom(t.Context(), strings.NewReader(text), "h", Drop)
	if err != nil {
		t.Fatal(err)
	}
	if l := checker.Check(t.Context(), history.Plan{}, ix).Layers[0]; l.Verdict != checker.Valid || len(ix.Acqs) != 2 {
		t.Errorf("%d acquisitions, %+v", len(ix.Acqs), l)
	}
}

func TestDamage(t *testing.T) {
	good := "{:type :invoke, :f :acquire, :process 0}\n"
	for text, want := range map[string]string{
		"":                                   "h:1: no operation of a lock in it",
		"[]":                                 "h:1: no operation",
		good + "\n{:type :ok, :f":            "h:3: the text ends too early",
		good + "{:type}":                     "h:2: a map with a key that has no value",
		good + "]":                           `h:2: unexpected ']'`,
		good + "17":                          "h:2: an operation is a map, not 17",
		good + "{:f :acquire}":               "h:2: an operation without :type",
		good + "{:type :invoke :f :acquire}": "h:2: an operation without :process",
		good + `{:type "\q"}`:                "h:2: not a string",
		good + good:                          "h:2: process 0 invokes acquire before its acquire has ended",
		good + "{:type :ok :f :release :process 0}":                           "h:2: process 0 ends a release that it did not invoke",
		good + "{:type :meh :f :acquire :process 0}":                          "h:2: :type meh is not one of",
		good + "{:type :invoke :f :write :process 1 :value 3}":                "h:2: write is not an operation of a lock",
		good + strings.Repeat("[", 1000):                                      "h:2: more than 100 levels",
		"[" + good + "] 3":                                                    "h:2: there is more behind",
		good + "\x00":                                                         "h:2: unexpected '\\x00'",
		"[{\"type\": \"invoke\",\n\"f\": }]":                                  "h:2: invalid character",
		`[{"type": "invoke", "f": "acquire", "process": 0}` + "\n":            "h:1: the text ends too early",
		`[{"type": "invoke", "f": "acquire", "process": 0},` + "\n 3]":        "h:2: not an operation",
		`[{"type": "invoke", "f": "acquire", "process": 0}]` + "\n[]":         "h:2: there is more behind",
		`{"type": "invoke", "f": "acquire", "process": 0}` + "\n" + `{"f":3}`: "h:2: an operation without :type",
	} {
		_, _, err := Parse(text, "h", Drop)
		var line *LineError
		if !errors.As(err, &line) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestParseReading(t *testing.T) {
	for s, want := range map[string]Reading{"drop": Drop, "ends": Ends, "": "", "Drop": ""} {
		if got, err := ParseReading(s); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", s, got, err)
		}
	}
}

// FuzzParse wants an answer to anything, and from what is read a history in the
// order of time whose returns have calls.
func FuzzParse(f *testing.F) {
	for _, name := range []string{"lease-ran-out.edn", "lease-ran-out.json"} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b))
	}
	f.Add(`#jepsen.history.Op{:type :invoke, :f :lock, :process 1, :value [:k nil]} #_{} {:type :info :f :lock :process 1}`)
	f.Add(`{":type":":invoke","f":"release","process":3,"time":-1}` + "\n" + `{"type":"fail","f":"release","process":3,"error":["not-held"]}`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, reading := range []Reading{Drop, Ends} {
			h, _, err := Parse(text, "h", reading)
			if _, senseless := history.Of(h); senseless != nil && err == nil {
				t.Fatal(senseless)
			}
			var line *LineError
			if err != nil && (!errors.As(err, &line) || line.Line < 1 || line.Line > 1+strings.Count(text, "\n")) {
				t.Fatalf("not an error that names a line of the text: %v", err)
			}
			called := map[string]int{}
			for i, ev := range h {
				if i > 0 && ev.At <= h[i-1].At {
					t.Fatalf("event %d does not come after the one before", i)
				}
				switch ev.Kind {
				case history.KindCall:
					called[ev.Op+ev.ID]++
				case history.KindReturn:
					if called[ev.Op+ev.ID]--; called[ev.Op+ev.ID] < 0 {
						t.Fatalf("event %d returns without a call", i)
					}
				}
			}
		}
	})
}
