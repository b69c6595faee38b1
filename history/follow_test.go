package history

import (
	"path/filepath"
	"testing"

	lb "github.com/lockbench/lockbench"
)

func TestFollowerSeesEachEventOnce(t *testing.T) {
	dir := t.TempDir()
	f := Follow(dir)
	next := func(want ...lb.Instant) {
		t.Helper()
		h, err := f.Next()
		if err != nil {
			t.Fatal(err)
		}
		var got []lb.Instant
		for _, ev := range h {
			got = append(got, ev.At)
		}
		if len(got) != len(want) {
			t.Fatalf("events at %v, want %v", got, want)
		}
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("events at %v, want %v", got, want)
			}
		}
	}
	next() // no recorder yet
	a, errA := Create(filepath.Join(dir, "a.jsonl"))
	b, errB := Create(filepath.Join(dir, "b.jsonl"))
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	next() // headers only
	a.Record(Event{At: 30, Kind: KindEnd})
	b.Record(Event{At: 10, Kind: KindEnd})
	next(10, 30)
	next()
	b.Record(Event{At: 40, Kind: KindEnd})
	next(40)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	next()
}
