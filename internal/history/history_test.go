package history

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
)

var sample = lb.History{
	{At: 1, Kind: lb.KindCall, Op: lb.OpAcquire, Client: "w1.c0", Lock: "a\"\\\n\x01é", ID: "w1.c0.1"},
	{At: 2, Kind: lb.KindReturn, Op: lb.OpAcquire, Client: "w1.c0", Lock: "L", ID: "w1.c0.1", Result: lb.OK, Token: 7, Until: 99, Shared: true},
	{At: 3, Kind: lb.KindRenew, Client: "w1.c0", Lock: "L", ID: "w1.c0.1", Call: 2, Until: 120},
	{At: 4, Kind: lb.KindWrite, Seq: 9, Client: "w1.c0", Lock: "L", ID: "w1.c0.1", Token: 7, Copies: &lb.CopyEffects{
		Plain: lb.CopyEffect{Value: 3, Base: 3, New: 4, Result: lb.Landed}, Checked: lb.CopyEffect{Value: -1, Result: lb.Skipped},
		Fenced: &lb.CopyEffect{Value: 3, Base: 2, Result: lb.Refused}}},
	{At: 4, Kind: lb.KindWake, Client: "w1.c0", Lock: "L", ID: "w1.c0.1", Name: "watch", Requests: 3},
	{At: 5, Kind: lb.KindLost, Client: "w1.c0", ID: "w1.c0.1", Note: "keepalive ended"},
	{At: 6, Kind: lb.KindSilent, Worker: "w1", Call: 5},
	{At: 7, Kind: lb.KindFault, Name: "pause-holder", Phase: "healed", Bit: true, Note: "frozen"},
	{At: 8, Kind: lb.KindEnd},
}

func TestWhatIsRecordedIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.jsonl")
	r, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range sample {
		r.Record(ev)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	got, notes, err := Read(path)
	if err != nil || len(notes) != 0 {
		t.Fatal(notes, err)
	}
	if !reflect.DeepEqual(got, sample) {
		t.Errorf("read %+v\nwant %+v", got, sample)
	}
}

func TestDamage(t *testing.T) {
	good := header + `{"t":1,"e":"call","op":"acquire","client":"c","lock":"L","id":"1"}` + "\n"
	for _, c := range []struct{ name, text, err, note string }{
		{"cut last line", good + `{"t":2,"e":"ret`, "", ":3: the last line was cut short"},
		{"corrupt middle", good + "{\"t\":\n" + `{"t":9,"e":"end"}` + "\n", "h:3: not an event", ""},
		{"unknown kind", good + `{"t":9,"e":"party"}` + "\n", `h:3: unknown kind of event "party"`, ""},
		{"bad result", good + `{"t":9,"e":"return","op":"acquire","client":"c","id":"1","result":"yes"}` + "\n", "h:3: result", ""},
		{"no header", `{"t":9,"e":"end"}` + "\n", "h:1: not a lockbench history", ""},
		{"other version", `{"lockbench":"history","version":9}` + "\n", "h:1: history version 9", ""},
		{"empty", "", "h:1: the file is empty", ""},
		{"endless line", header + strings.Repeat("x", maxLine+1<<17), "h:2: line is longer", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, notes, err := Parse(strings.NewReader(c.text), "h")
			var line *LineError
			if c.err == "" && err != nil || c.err != "" && (!errors.As(err, &line) || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("error %v, want %q", err, c.err)
			}
			if c.note != "" && (len(notes) != 1 || !strings.Contains(notes[0], c.note)) {
				t.Errorf("notes %q, want %q", notes, c.note)
			}
		})
	}
}

func TestMergeOrdersByTime(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, Dir), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, h := range map[string]lb.History{"w1": {sample[2], sample[0]}, "w2": {sample[1]}} {
		if err := Write(filepath.Join(dir, Dir, name+".jsonl"), h); err != nil {
			t.Fatal(err)
		}
	}
	if err := Merge(dir); err != nil {
		t.Fatal(err)
	}
	got, _, err := ReadRun(dir)
	if err != nil || !reflect.DeepEqual(got, sample[:3]) {
		t.Errorf("merged %+v, %v", got, err)
	}
}

func BenchmarkRecord(b *testing.B) {
	r, err := Create(filepath.Join(b.TempDir(), "h.jsonl"))
	if err != nil {
		b.Fatal(err)
	}
	ev := sample[1]
	ev.Lock, ev.At = "L", 0
	b.ReportAllocs()
	for b.Loop() {
		r.Record(ev)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(header + `{"t":1,"e":"call","op":"acquire","client":"c","lock":"L","id":"1"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		Parse(strings.NewReader(string(data)), "h") // must return, whatever it is given
	})
}
