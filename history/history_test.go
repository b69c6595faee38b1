package history

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
)

// parse reads the events of a text one by one, in the order of its lines.
func parse(t testing.TB, text string) (h Events, note string, err error) {
	t.Helper()
	for c := (cutter{in: strings.NewReader(text), line: 1}); !c.done; {
		var bl block
		c.fill(&bl)
		if bl.parse(); bl.err != nil {
			return nil, "", &LineError{"h", bl.errLine, bl.err}
		}
		h, note = append(h, bl.events...), bl.note
	}
	return h, note, nil
}

func readAll(t *testing.T, path string) Events {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	h, note, err := parse(t, string(text))
	if err != nil || note != "" {
		t.Fatal(note, err)
	}
	return h
}

var sample = Events{
	{At: 1, Kind: KindCall, Op: OpAcquire, Client: "w1.c0", Lock: "a\"\\\n\x01é", ID: "w1.c0.1"},
	{At: 2, Kind: KindReturn, Op: OpAcquire, Client: "w1.c0", Lock: "L", ID: "w1.c0.1", Result: lb.AnswerOK, Token: 7, Until: 99, Shared: true},
	{At: 3, Kind: KindRenew, Client: "w1.c0", Lock: "L", ID: "w1.c0.1", Call: 2, Until: 120},
	{At: 4, Kind: KindWrite, Seq: 9, Client: "w1.c0", Lock: "L", ID: "w1.c0.1", Token: 7, Copies: &CopyEffects{
		Plain: CopyEffect{Value: 3, Base: 3, New: 4, Result: Landed}, Checked: CopyEffect{Value: -1, Result: Skipped},
		Fenced: &CopyEffect{Value: 3, Base: 2, Result: Refused}}},
	{At: 4, Kind: KindWake, Client: "w1.c0", Lock: "L", ID: "w1.c0.1", Name: "watch", Requests: 3},
	{At: 5, Kind: KindLost, Client: "w1.c0", Lock: "\xff\xc3(", ID: "w1.c0.1", Note: "keepalive ended"},
	{At: 6, Kind: KindSilent, Worker: "w1", Call: 5},
	{At: 7, Kind: KindFault, Name: "pause-holder", Phase: "healed", Proven: true, Note: "frozen"},
	{At: 8, Kind: KindAct, Name: "freeze", Target: "w1", Fault: "pause-holder", Phase: "begin"},
	{At: 8, Kind: KindCount, Name: "keys", Target: "redis1", Count: 12},
	{At: 9, Kind: KindEnd},
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
	if got := readAll(t, path); !reflect.DeepEqual(got, sample) {
		t.Errorf("read %+v\nwant %+v", readAll(t, path), sample)
	}
}

func TestDamage(t *testing.T) {
	good := header + `{"t":1,"e":"call","op":"acquire","client":"c","lock":"L","id":"1"}` + "\n"
	for _, c := range []struct{ name, text, err, note string }{
		{"cut last line", good + `{"t":2,"e":"ret`, "", "line 3, the last, was cut short"},
		{"a last line of unknown kind", good + `{"t":9,"e":"party"}`, `h:3: unknown kind of event "party"`, ""},
		{"a last line without its end", good + `{"t":9,"e":"end"}`, "", ""},
		{"a damaged last line with its end", good + `{"t":9,"e":"en` + "\n", "h:3: not an event", ""},
		{"corrupt middle", good + "{\"t\":\n" + `{"t":9,"e":"end"}` + "\n", "h:3: not an event", ""},
		{"unknown kind", good + `{"t":9,"e":"party"}` + "\n", `h:3: unknown kind of event "party"`, ""},
		{"bad result", good + `{"t":9,"e":"return","op":"acquire","client":"c","lock":"L","id":"1","result":"yes"}` + "\n", "h:3: result", ""},
		{"no header", `{"t":9,"e":"end"}` + "\n", "h:1: not a lockbench history", ""},
		{"another file of lockbench", `{"lockbench":"matrix","version":1}` + "\n", "h:1: not a lockbench history", ""},
		{"other version", `{"lockbench":"history","version":9}` + "\n", "h:1: history version 9", ""},
		{"killed recorder", good + strings.Repeat("\x00", 3<<20), "", ""},
		{"killed in the middle of a line", good + `{"t":2,"e":"ret` + strings.Repeat("\x00", 100), "", "line 3, the last, was cut short"},
		{"killed while copying a line", good + `{"t":2,"e":"` + "\x00\x00\x00\"}\n\x00\x00", "", "line 3, the last, was cut short"},
		{"killed before the first event", header + "\x00", "", ""},
		{"zeros in the middle", good + "\x00\x00\n\x00" + good, "h:3: zero bytes in the middle", ""},
		{"nothing but zeros", "\x00\x00", "h:1: the file is empty", ""},
		{"half a header", header[:9], "h:1: the file is empty", ""},
		{"empty", "", "h:1: the file is empty", ""},
		{"damage far behind", header + strings.Repeat(`{"t":9,"e":"fault","name":"f","phase":"heal"}`+"\n", 20_000) + "}\n", "h:20002: not an event", ""},
		{"a line that is too long", header + `{"t":9,"e":"end","x":"` + strings.Repeat("x", maxLine) + "\"}\n", "h:2: the line is longer", ""},
		{"endless line", header + strings.Repeat("x", maxLine+1<<17), "h:2: the line is longer", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, note, err := parse(t, c.text)
			var line *LineError
			if c.err == "" && err != nil || c.err != "" && (!errors.As(err, &line) || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("error %v, want %q", err, c.err)
			}
			if !strings.Contains(note, c.note) || c.note == "" && note != "" {
				t.Errorf("note %q, want %q", note, c.note)
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
			r.Record(Event{At: lb.Instant(i + 1), Kind: KindRead, Client: "w1.c0", Lock: "L", ID: "w1.c0.1", Seq: i + 1, Copies: &CopyEffects{}})
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
	if h := readAll(t, path); len(h) != 30_000 || h[len(h)-1].Seq != 30_000 {
		t.Fatalf("%d events", len(h))
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
		if got := readAll(t, path); !reflect.DeepEqual(got, sample) {
			t.Errorf("read %+v", got)
		}
		r.Record(sample[0]) // must not crash
	}
}

// TestSeveralFiles is what check meets after crashes.
func TestSeveralFiles(t *testing.T) {
	const call = `{"t":1,"e":"call","op":"acquire","client":"c","lock":"L","id":"1"}` + "\n"
	const granted = `{"t":2,"e":"return","op":"acquire","client":"c","lock":"L","id":"1","result":"ok"}` + "\n"
	const end = `{"t":3,"e":"end"}` + "\n"
	for _, c := range []struct {
		name        string
		files       []string
		missing     []string
		acqs        int
		note, doubt string
		err         string
	}{
		{"two recorders", []string{header + granted, header + call + end}, nil, 1, "", "", ""},
		{"a cut line", []string{header + call + granted[:9], header}, nil, 1, "0.jsonl: line 3, the last, was cut short", "", ""},
		{"a cut line, and others went on", []string{header + call + granted[:9], header + strings.Replace(end, `"t":1`, `"t":9`, 1)}, nil, 1,
			"0.jsonl: line 3, the last, was cut short", "0.jsonl was cut short, and others went on", ""},
		{"a killed recorder", []string{header + call + granted + "\x00\x00"}, nil, 1, "", "", ""},
		{"a corrupt line", []string{header + "}\n" + call, header + end}, nil, 0, "", "", "0.jsonl:2: not an event"},
		{"a recorder that never began", []string{header + call, header[:20] + "\x00"}, nil, 1, "1.jsonl: nothing was recorded", "", ""},
		{"no sense", []string{header + granted}, nil, 0, "", "", "0.jsonl:2: nothing that c has called is open"},
		{"no sense, but a crash explains it", []string{header + granted, header + call[:20]}, nil, 0, "was cut short", "something was not recorded", ""},
		{"no sense, but another recorder never began", []string{header + granted, header[:20]}, nil, 0, "1.jsonl: nothing was recorded", "something was not recorded", ""},
		{"a recorder is missing", []string{header + call + granted}, []string{"events/w2.jsonl"}, 1, "", "w2.jsonl is missing", ""},
		{"a recorder is missing, and what it saw", []string{header + granted}, []string{"events/w2.jsonl"}, 0, "", "something was not recorded", ""},
		{"one instant in two files", []string{header + end + call, header + strings.Replace(granted, `"t":2`, `"t":1`, 1)}, nil, 1, "", "", ""},
		{"the run ends twice", []string{header + end, header + end}, nil, 0, "", "", "1.jsonl:2: the run ended before"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			var paths []string
			for i, text := range c.files {
				paths = append(paths, filepath.Join(dir, fmt.Sprint(i, ".jsonl")))
				if err := os.WriteFile(paths[i], []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			ix, err := ReadFiles(t.Context(), paths, c.missing)
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Fatalf("error %v, want %q", err, c.err)
			}
			if err != nil {
				return
			}
			notes, doubts := strings.Join(ix.Notes, "\n"), strings.Join(ix.Doubts, "\n")
			if len(ix.Acqs) != c.acqs || !strings.Contains(notes, c.note) || !strings.Contains(doubts, c.doubt) ||
				c.note == "" && notes != "" || c.doubt == "" && doubts != "" {
				t.Errorf("%d acquisitions, notes %q, doubts %q", len(ix.Acqs), notes, doubts)
			}
			if strings.Contains(notes+doubts, "/") {
				t.Errorf("a file is not called by its name alone: %q, %q", notes, doubts)
			}
		})
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

// TestLast: a process that is about to be killed records its death last, and does nothing that
// it could not record.
func TestLast(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.jsonl")
	r, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	r.Record(sample[0])
	r.Last(Event{Kind: KindDead, Worker: "w1"})
	went := make(chan struct{})
	go func() {
		r.Record(sample[1])
		close(went)
	}()
	select {
	case <-went:
		t.Error("another thread went on without its record")
	case <-time.After(50 * time.Millisecond):
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if h := readAll(t, path); len(h) != 2 || h[1].Kind != KindDead {
		t.Errorf("recorded %+v", h)
	}
}

// TestCutArchive: of a compressed file that was cut short, wherever, nobody may think that it is
// whole. Nothing in its text tells, where the cut lies between two lines.
func TestCutArchive(t *testing.T) {
	var text strings.Builder
	text.WriteString(header)
	for i := range 200 {
		fmt.Fprintf(&text, `{"t":%d,"e":"call","op":"acquire","client":"c%d","lock":"L","id":"%d"}`+"\n", i+1, i, i)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	for line := range strings.Lines(text.String()) {
		_, err := z.Write([]byte(line))
		if err := errors.Join(err, z.Flush()); err != nil { // so that a cut leaves whole lines
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	read := 0
	for n := packed.Len(); n > 20; n -= 7 {
		ix, err := ReadFrom(t.Context(), bytes.NewReader(packed.Bytes()[:n]), "h.jsonl.gz")
		switch whole := n == packed.Len(); {
		case whole && (err != nil || len(ix.Doubts) > 0 || len(ix.Acqs) != 200):
			t.Fatalf("the whole file: %v, doubts %q", err, ix.Doubts)
		case !whole && err == nil && !strings.Contains(strings.Join(ix.Doubts, "\n"), "was cut short"):
			t.Errorf("%d of %d bytes: doubts %q, %d acquisitions", n, packed.Len(), ix.Doubts, len(ix.Acqs))
		case err == nil:
			read++
		}
	}
	if read < 100 {
		t.Errorf("only %d of the pieces were read", read)
	}
}
