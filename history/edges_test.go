package history_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/testkit/shorthand"
)

const firstLine = `{"lockbench":"history","version":1}` + "\n"

// read reads a history of these lines.
func read(t *testing.T, lines ...string) (*history.Index, error) {
	return history.ReadFrom(t.Context(), strings.NewReader(firstLine+strings.Join(lines, "\n")+"\n"), "h")
}

// refuses compares an error with a part of it, "" for none.
func refuses(t *testing.T, what string, err error, want string) {
	t.Helper()
	if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
		t.Errorf("%s: %v, want %q", what, err, want)
	}
}

// TestText is what a string of JSON says, and which ones say nothing.
func TestText(t *testing.T) {
	for _, tt := range []struct{ text, want, refused string }{
		{`\"\\\/\b\f\n\r\t`, "\"\\/\b\f\n\r\t", ""},
		{`\u004a\u00E9\uABCD\uabcd`, "Jé\uabcd\uabcd", ""},
		{`é\ud83d\ude00!`, "é😀!", ""},
		{`\udc80\udcff`, "\x80\xff", ""},
		{`\udc7f`, "", "not UTF-8"}, // the bytes up to 7f are text
		{`\udd00`, "", "not UTF-8"},
		{`\ud83d\u0041`, "", "not UTF-8"},
		{`\ud83d!`, "", "not UTF-8"},
		{"\xff", "", "not UTF-8"},
		{"\xff\\n", "", "not UTF-8"},
		{"\\n\xff", "", "not UTF-8"},
		{"a\x1f", "", "0x1f in a string"},
		{"\\n\x1f", "", "0x1f in a string"},
	} {
		ix, err := read(t, `{"t":1,"e":"call","op":"acquire","client":"c","lock":"`+tt.text+`","id":"1"}`)
		if refuses(t, tt.text, err, tt.refused); err == nil && ix.Locks[0] != tt.want {
			t.Errorf("%s is read as %q, want %q", tt.text, ix.Locks[0], tt.want)
		}
	}
}

// needed are the fields that each kind of event must have, by the table of the page.
var needed = map[string]string{
	"call": "t op client lock id", "return": "t op client lock id result", "renew": "t client lock id until",
	"lost": "t client lock id", "wake": "t client name", "read": "t seq client lock id copies",
	"write": "t seq client lock id copies", "step": "t client id name", "silent": "t worker call", "dead": "t worker",
	"fault": "t name phase", "end": "t",
}

var values = map[string]string{"t": "9", "op": `"acquire"`, "client": `"c"`, "lock": `"l"`, "id": `"a"`, "result": `"ok"`, "until": "9",
	"name": `"n"`, "seq": "1", "worker": `"w"`, "call": "9", "phase": `"strike"`,
	"copies": `{"plain":{"value":1,"result":"refused"},"checked":{"value":1,"result":"refused"}}`}

// line is an event with these fields.
func line(kind string, fields []string, values map[string]string) string {
	s := fmt.Sprintf(`{"e":%q`, kind)
	for _, f := range fields {
		s += fmt.Sprintf(`,%q:%s`, f, values[f])
	}
	return s + "}"
}

// lineError is what a reader says of a line alone: what is wrong with the whole it says
// in other words.
func lineError(t *testing.T, line string) error {
	_, err := read(t, line)
	if err != nil && (strings.Contains(err.Error(), "that c has called") || strings.Contains(err.Error(), "nobody has asked")) {
		return nil
	}
	return err
}

// TestNeededFields leaves out each field of each kind of event, and each name empty.
func TestNeededFields(t *testing.T) {
	for kind, text := range needed {
		fields := strings.Fields(text)
		refuses(t, kind, lineError(t, line(kind, fields, values)), "")
		for i, f := range fields {
			rest := append(append([]string(nil), fields[:i]...), fields[i+1:]...)
			refuses(t, kind+" without "+f, lineError(t, line(kind, rest, values)), "needs "+f)
			if strings.Contains(" client lock id name worker ", " "+f+" ") {
				empty := map[string]string{}
				for name, v := range values {
					empty[name] = v
				}
				empty[f] = `""`
				refuses(t, kind+" with empty "+f, lineError(t, line(kind, fields, empty)), "needs "+f+", and it is empty")
			}
		}
	}
}

// TestRanges is what the fields may hold, up to their last instants and words.
func TestRanges(t *testing.T) {
	for _, tt := range []struct{ kind, field, value, refused string }{
		{"end", "t", "0", ""}, {"end", "t", "-1", "t is -1"},
		{"end", "t", "4611686018427387904", ""}, {"end", "t", "4611686018427387905", "t is 4611686018427387905"},
		{"renew", "until", "1", ""}, {"renew", "until", "0", "until is 0"},
		{"renew", "until", "4611686018427387904", ""}, {"renew", "until", "4611686018427387905", "until is 46"},
		{"silent", "call", "0", ""}, {"silent", "call", "-1", "call is -1"},
		{"silent", "call", "9", ""}, {"silent", "call", "10", "call is after t"},
		{"silent", "call", "4611686018427387905", "call is 46"},
		{"call", "op", `"release"`, ""}, {"call", "op", `"free"`, `op "free"`},
		{"return", "result", `"unknown"`, ""}, {"return", "result", `"lost"`, "can't return lost"}, {"return", "result", `"odd"`, `result "odd"`},
		{"fault", "phase", `"heal"`, ""}, {"fault", "phase", `"healed"`, ""}, {"fault", "phase", `"begin"`, `phase "begin"`},
		{"read", "copies", `{"plain":{"value":1},"checked":{"value":1},"fenced":{"value":1,"result":"refused"}}`, ""},
		{"read", "copies", `{"plain":{"value":1},"checked":{"value":1},"plain":{"value":1}}`, "plain is there twice"},
		{"write", "copies", `{"plain":{"value":1,"result":"landed"},"checked":{"value":1,"result":"landed"},"fenced":{"value":1}}`, "a write needs result"},
		{"write", "copies", `{"plain":{"base":1,"result":"landed"},"checked":{"value":1,"result":"landed"}}`, "a copy needs value"},
	} {
		changed := map[string]string{}
		for name, v := range values {
			changed[name] = v
		}
		changed[tt.field] = tt.value
		if tt.kind == "return" && tt.value == `"lost"` {
			changed["op"] = `"acquire"`
		}
		text := line(tt.kind, strings.Fields(needed[tt.kind]), changed)
		refuses(t, text, lineError(t, text), tt.refused)
	}
	for _, f := range []string{`"until":-5`, `"call":99`, `"phase":"odd"`, `"token":7`} {
		refuses(t, "what an end does not have", lineError(t, `{"t":9,"e":"end",`+f+`}`), "")
	}
}

// TestWhole is what a reader says of a history as a whole, in the notation of the page.
func TestWhole(t *testing.T) {
	for _, tt := range []struct{ name, text, refused string }{
		{"a return of another acquisition", `1 c A a;2 r A b ok`, "does not answer the last call of A"},
		{"a return of another lock", `1 c A a;2 r A a ok lock=m`, "does not answer the last call of A"},
		{"a return of another op", `1 c A a;2 R A a ok`, "does not answer the last call of A"},
		{"a second return", `1 c A a;2 r A a fail;3 r A a ok`, "nothing that A has called is open"},
		{"a call that was never answered", `1 c A a;2 c A b;3 r A b ok`, ""},
		{"an exclusive call that returns shared", `1 c A a;2 r A a ok shared`, "returns as a shared one"},
		{"an id that is used again", `1 c A a;2 r A a fail;3 c A a`, "was asked for before"},
		{"an id of another lock", `1 c A a;2 r A a ok;3 c A a lock=m;4 r A a ok lock=m`, ""},
		{"somebody else's renewal", `1 c A a;2 r A a ok;3 renew B a until=9`, "is not B's"},
		{"somebody else's loss", `1 c A a;2 r A a ok;3 lost B a`, "is not B's"},
		{"somebody else's write", `1 c A a;2 r A a ok;3 write B a seq=1 plain=0/0/1`, "is not B's"},
		{"a write of what nobody asked for", `1 write A a seq=1 plain=0/0/1`, "nobody has asked"},
		{"a release of what nobody asked for", `1 C A a;2 R A a ok`, ""},
		{"a death and a call", `1 c w.A a;2 dead w;3 C w.A a`, "w.A does something after its process was killed"},
		{"a death and a return", `1 c w.A a;2 dead w;3 r w.A a ok`, "after its process was killed"},
		{"a death and a loss", `1 c w.A a;2 r w.A a ok;3 dead w;4 lost w.A a`, "after its process was killed"},
		{"a death and a write that was on its way", `1 c w.A a;2 r w.A a ok;3 dead w;4 write w.A a seq=1 plain=0/0/1`, ""},
		{"a death and another process", `1 dead w;2 c v.A a`, ""},
		{"two ends", `1 end;2 end`, "the run ended before"},
		{"two processes", `1 c A a worker=v;2 C A a worker=w`, `A lived in the process "v" before`},
		{"one process, said twice", `1 c A a worker=v;2 C A a worker=v`, ""},
		{"a seq that is there twice, far apart", `1 c A a;2 r A a ok;3 read A a seq=7 plain=0;4 read A a seq=5 plain=0;5 read A a seq=7 plain=0`, "two accesses 7"},
		{"lines that are not in order", `9 C A a;2 r A a ok;1 c A a`, ""},
		{"lines of one instant stay in their order", `9 end;1 c A a;1 r A a ok;1 C A a;1 R A a ok`, ""},
		{"lines of one instant are not turned round", `5 end;1 r A a ok;1 c A a`, "nothing that A has called is open"},
	} {
		_, err := history.Of(shorthand.Must(tt.text).Events)
		refuses(t, tt.name, err, tt.refused)
	}
}

// TestManyAcquisitions: the ids of one lock and of another don't meet, however many.
func TestManyAcquisitions(t *testing.T) {
	const locks, ids = 500, 30
	var h history.Events
	for i := range locks * ids {
		ev := history.Event{At: lb.Instant(2 * i), Kind: history.KindCall, Op: history.OpAcquire, Client: "c", Lock: fmt.Sprint(i % locks), ID: fmt.Sprint(i / locks)}
		h = append(h, ev)
		ev.At, ev.Kind, ev.Result = ev.At+1, history.KindReturn, lb.AnswerFailed
		h = append(h, ev)
	}
	for i := range locks * ids { // the table has grown since
		h = append(h, history.Event{At: lb.Instant(len(h)), Kind: history.KindLost, Client: "c", Lock: fmt.Sprint(i % locks), ID: fmt.Sprint(i / locks)})
	}
	ix, err := history.Of(h)
	if err != nil || len(ix.Acqs) != locks*ids {
		t.Fatalf("%d acquisitions: %v", len(ix.Acqs), err)
	}
	for i := range ix.Acqs {
		a := &ix.Acqs[i]
		if ix.Locks[a.Lock] != fmt.Sprint(i%locks) || ix.ID(a) != fmt.Sprint(i/locks) || a.Lost != lb.Instant(2*locks*ids+i) {
			t.Fatalf("the acquisition %d is %q of the lock %q, lost at %d", i, ix.ID(a), ix.Locks[a.Lock], a.Lost)
		}
	}
}

// TestActs: an end belongs to the last begin of its name, target and fault that has not ended,
// and work that failed is kept with its note.
func TestActs(t *testing.T) {
	ix, err := history.Of(shorthand.Must(`1 act cut s begin
		2 act cut r begin
		3 act cut s end
		4 act cut s end
		5 act stop r end
		6 act stop s begin
		7 act stop s begin
		8 act stop s end
		9 act drop s begin fault=x
		10 act drop s begin fault=y
		11 act drop s end fault=x
		12 failed A`).Events)
	if err != nil {
		t.Fatal(err)
	}
	want := []history.Act{{Name: "cut", Target: "s", Begin: 1, End: 3}, {Name: "cut", Target: "r", Begin: 2, End: history.Forever},
		{Name: "stop", Target: "s", Begin: 6, End: history.Forever}, {Name: "stop", Target: "s", Begin: 7, End: 8},
		{Name: "drop", Target: "s", Fault: "x", Begin: 9, End: 11}, {Name: "drop", Target: "s", Fault: "y", Begin: 10, End: history.Forever}}
	if !slices.Equal(ix.Acts, want) {
		t.Errorf("got %v, want %v", ix.Acts, want)
	}
	if len(ix.Failures) != 1 || ix.Failures[0].At != 12 || ix.Clients[ix.Failures[0].Client].Name != "A" {
		t.Errorf("failures %+v", ix.Failures)
	}
}

// TestFaultsAtOnce: what heals, and what did not strike, is the one of that name.
func TestFaultsAtOnce(t *testing.T) {
	ix, err := history.Of(shorthand.Must(`1 fault x strike
		2 fault y strike
		3 fault x heal
		4 fault z healed
		5 fault y heal
		6 fault x healed proven
		7 fault x strike
		8 fault y healed
		9 fault x healed`).Events)
	if err != nil {
		t.Fatal(err)
	}
	want := []history.Fault{
		{Name: "x", Struck: true, Strike: 1, Heal: 3, Healed: 6, Proven: true},
		{Name: "y", Struck: true, Strike: 2, Heal: 5, Healed: 8},
		{Name: "z", Strike: 4, Healed: 4},
		{Name: "x", Struck: true, Strike: 7, Healed: 9},
	}
	if !slices.Equal(ix.Faults, want) {
		t.Errorf("got %+v, want %+v", ix.Faults, want)
	}
}
