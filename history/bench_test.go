package history

import (
	"bytes"
	"fmt"
	"testing"

	lb "github.com/lockbench/lockbench"
)

// saturated is the text of a history of n operations: one lock, 64 clients that
// always wait for it.
func saturated(n int) []byte {
	var b bytes.Buffer
	b.WriteString(header)
	var buf []byte
	line := func(ev Event) {
		buf = appendEvent(buf[:0], &ev)
		b.Write(buf)
	}
	now := lb.Instant(1e12)
	for i := range n / 2 {
		ev := Event{Kind: KindCall, Op: OpAcquire, Client: fmt.Sprintf("w%d.c%d", i%64/8, i%8), Lock: "lock"}
		ev.ID = fmt.Sprintf("%s.%d", ev.Client, i)
		ev.At = now
		line(ev)
		ev.Kind, ev.Result, ev.At, ev.Until = KindReturn, lb.AnswerOK, now+1000, now+1e9
		line(ev)
		ev = Event{Kind: KindCall, Op: OpRelease, Client: ev.Client, Lock: ev.Lock, ID: ev.ID, At: now + 2000}
		line(ev)
		ev.Kind, ev.Result, ev.At = KindReturn, lb.AnswerOK, now+3000
		line(ev)
		now += 4000
	}
	return b.Bytes()
}

// BenchmarkRead is what an operation costs, from its lines to the index.
func BenchmarkRead(b *testing.B) {
	const n = 200_000
	text := saturated(n)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		ix, err := ReadFrom(b.Context(), bytes.NewReader(text), "h")
		if err != nil || len(ix.Acqs) != n/2 {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/operation")
}
