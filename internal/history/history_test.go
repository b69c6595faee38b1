package history

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
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
		{"killed recorder", good + strings.Repeat("\x00", 3<<20), "", "h: the recorder was killed; the file ends with line 2"},
		{"killed in the middle of a line", good + `{"t":2,"e":"ret` + strings.Repeat("\x00", 100), "", ":3: the last line was cut short"},
		{"killed while copying a line", good + `{"t":2,"e":"` + "\x00\x00\x00\"}\n\x00\x00", "", ":3: the last line was cut short"},
		{"killed before the first event", header + "\x00", "", "the file ends with line 1"},
		{"zeros in the middle", good + "\x00\x00\n\x00" + good, "h:3: zero bytes in the middle", ""},
		{"nothing but zeros", "\x00\x00", "h:1: the file is empty", ""},
		{"half a header", header[:9], "h:1: the file is empty", ""},
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

// TestKilledRecorder records in a process that is killed while it does, and wants
// every event that was recorded.
func TestKilledRecorder(t *testing.T) {
	if path := os.Getenv("LOCKBENCH_RECORD_TO"); path != "" {
		r, err := Create(path)
		if err != nil {
			t.Fatal(err)
		}
		for i := range uint64(30_000) { // several windows
			r.Record(lb.Event{At: lb.Instant(i + 1), Kind: lb.KindRead, Client: "w1.c0", Lock: "L", ID: "w1.c0.1", Seq: i, Copies: &lb.CopyEffects{}})
		}
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	path := filepath.Join(t.TempDir(), "h.jsonl")
	cmd := exec.Command(os.Args[0], "-test.run", "^TestKilledRecorder$")
	cmd.Env = append(os.Environ(), "LOCKBENCH_RECORD_TO="+path)
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("the recording process was not killed: %v\n%s", err, out)
	}
	h, notes, err := Read(path)
	if err != nil || len(h) != 30_000 || h[len(h)-1].Seq != 29_999 {
		t.Fatalf("%d events, %v", len(h), err)
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "the recorder was killed; the file ends with line 30001") {
		t.Errorf("notes %q", notes)
	}
}

// TestRecorderWithoutMapping takes the way of file systems that can't map files,
// from the start and in the middle of a file.
func TestRecorderWithoutMapping(t *testing.T) {
	for _, before := range []int{0, 3} {
		path := filepath.Join(t.TempDir(), "h.jsonl")
		r, err := Create(path)
		if err != nil {
			t.Fatal(err)
		}
		for i, ev := range sample {
			if i == before && r.window != nil {
				if err := unmap(r.window); err != nil {
					t.Fatal(err)
				}
				r.window = nil
			}
			r.Record(ev)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if got, notes, err := Read(path); err != nil || len(notes) != 0 || !reflect.DeepEqual(got, sample) {
			t.Errorf("read %+v, %q, %v", got, notes, err)
		}
		r.Record(sample[0]) // must not crash
	}
}

// TestDamagedDirectory is what check meets after crashes.
func TestDamagedDirectory(t *testing.T) {
	event := `{"t":%d,"e":"end"}` + "\n"
	for _, c := range []struct {
		name   string
		files  map[string]string
		events int
		note   string // part of the last note
		err    string
	}{
		{"nothing", nil, 0, "", "holds neither history.jsonl nor events/*.jsonl"},
		{"merged", map[string]string{File: header + event}, 1, "", ""},
		{"not merged", map[string]string{"events/w1.jsonl": header + event, "events/w2.jsonl": header + event}, 2, "ended before its history was merged", ""},
		{"a cut line", map[string]string{"events/w1.jsonl": header + event + event[:9], "events/w2.jsonl": header + event}, 2, "w1.jsonl:3: the last line was cut short", ""},
		{"a killed recorder", map[string]string{"events/w1.jsonl": header + event + "\x00\x00"}, 1, "w1.jsonl: the recorder was killed", ""},
		{"a corrupt line", map[string]string{"events/w1.jsonl": header + "}\n" + event, "events/w2.jsonl": header + event}, 0, "", "w1.jsonl:2: not an event"},
		{"an unfinished merge", map[string]string{File + ".tmp": header, "events/w1.jsonl": header + event}, 1, "ended before", ""},
		{"a recorder that never began", map[string]string{"events/w1.jsonl": header + event, "events/w2.jsonl": header[:20] + "\x00"}, 1, "w2.jsonl: nothing was recorded", ""},
		{"an empty file given alone", map[string]string{File: ""}, 0, "", "history.jsonl:1: the file is empty"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, Dir), 0o755); err != nil {
				t.Fatal(err)
			}
			for name, text := range c.files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.ReplaceAll(text, "%d", "1")), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			h, notes, err := ReadRun(dir)
			last := ""
			if len(notes) > 0 {
				last = notes[len(notes)-1]
			}
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Fatalf("error %v, want %q", err, c.err)
			}
			if len(h) != c.events || !strings.Contains(last, c.note) || c.note == "" && last != "" {
				t.Errorf("%d events, notes %q; want %d, %q", len(h), notes, c.events, c.note)
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
	if _, err := Merge(dir); err != nil {
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
	f.Add([]byte(header + `{"t":1,"e":"end"}` + "\n\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		h, _, err := Parse(bytes.NewReader(data), "h")
		if err != nil {
			return
		}
		// What was read must be what is read again.
		text := []byte(header)
		for i := range h {
			text = appendEvent(text, &h[i])
		}
		again, notes, err := Parse(bytes.NewReader(text), "again")
		if err != nil || len(notes) != 0 || !reflect.DeepEqual(h, again) {
			t.Fatalf("read %+v\nagain %+v, %q, %v", h, again, notes, err)
		}
	})
}
