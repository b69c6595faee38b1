package cost

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"
)

func figure(values ...float64) *Figure {
	f := &Figure{Unit: "ns"}
	for round, v := range values {
		f.Add(round, v)
	}
	return f
}

func TestFigure(t *testing.T) {
	six := figure(6, 1, 5, 2, 4, 3)
	if six.Median != 3.5 || six.Low != 1 || six.High != 6 || six.Confidence < .95 {
		t.Errorf("six rounds: %+v", six.Summary)
	}
	three := figure(3, 1, 2)
	if three.Median != 2 || three.Low != 1 || three.High != 3 || three.Confidence != 0 {
		t.Errorf("three rounds allow no interval of 95%%: %+v", three.Summary)
	}
	twenty := figure(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 1000)
	if twenty.Median != 10.5 || twenty.High > 20 {
		t.Errorf("twenty rounds, one of them an outlier: %+v", twenty.Summary)
	}
}

// TestRatio is round by round: a round that was slow for both counts like any other.
func TestRatio(t *testing.T) {
	r := Ratio(figure(20, 200, 30), figure(10, 100, 15))
	if r.Median != 2 || r.Low != 2 || r.High != 2 || len(r.Values) != 3 {
		t.Errorf("%+v", r)
	}
	short := figure(10)
	if r := Ratio(figure(20, 40), short); len(r.Values) != 1 || r.Median != 2 {
		t.Errorf("a round that only one has: %+v", r)
	}
	for _, r := range []Figure{Ratio(nil, short), Ratio(short, nil), Ratio(short, figure(0))} {
		if len(r.Values) != 0 {
			t.Errorf("nothing to compare: %+v", r)
		}
	}
}

func TestAgree(t *testing.T) {
	if !Agree(Summary{Low: 1, High: 3}, Summary{Low: 3, High: 5}) || Agree(Summary{Low: 1, High: 2}, Summary{Low: 3, High: 5}) {
		t.Error("intervals agree where they have a value in common")
	}
}

func TestLatencies(t *testing.T) {
	a, b := NewLatencies(), NewLatencies()
	for i := 1; i <= 500; i++ {
		a.Add(time.Duration(i) * time.Microsecond)
		b.Add(time.Duration(500+i) * time.Microsecond)
	}
	b.Add(time.Hour)
	a.Merge(b)
	if n := a.Len(); n != 1001 {
		t.Errorf("%d", n)
	}
	near := func(got, want time.Duration) bool { return got > want*998/1000 && got < want*1002/1000 }
	if !near(a.At(.5), 501*time.Microsecond) || !near(a.At(1), time.Minute) {
		t.Errorf("median %v, longest %v", a.At(.5), a.At(1))
	}
	q := a.Quantiles()
	if last := q[len(q)-1]; last.Q != 1 || q[0].Q != 0 {
		t.Errorf("%v", q)
	}
	for i := range q[1:] {
		if q[i].At > q[i+1].At {
			t.Errorf("%v falls", q)
		}
		if q[i].Q == .9999 {
			t.Error("1001 values say nothing of 1 in 10000")
		}
	}
	if none := NewLatencies(); none.At(.5) != 0 || none.Mean() != 0 || none.Quantiles() != nil {
		t.Error("no latency at all")
	}
}

func sample() *Bench {
	b := &Bench{Schema: 2, Plan: Plan{Algorithms: []string{"a", "b"}, Baseline: "a", Rounds: 2, Seed: 7}, Rounds: 2}
	for i, name := range b.Plan.Algorithms {
		c := b.Cell(Contended(name, Disk), "redis")
		for round := range 2 {
			c.Add(round, HandOffs, float64(100*(i+1)+round))
			c.Add(round, P50, 1500)
		}
	}
	b.Cell(Uncontended("a", Disk), "redis").Fail(errFor("refused"))
	return b
}

type errFor string

func (e errFor) Error() string { return string(e) }

// TestText: what benchstat reads is what was measured.
func TestText(t *testing.T) {
	text, err := sample().Text()
	if err != nil {
		t.Fatal(err)
	}
	r := benchfmt.NewReader(bytes.NewReader(text), "bench.txt")
	var names []string
	var rates []float64
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.Result:
			names = append(names, string(rec.Name))
			v, ok := rec.Value("handoffs/s")
			if p50, there := rec.Value("p50-ns"); !ok || !there && p50 == 0 {
				if p50, there = rec.Value("p50-sec"); !there || p50 != 1500e-9 {
					t.Errorf("%s has %v", rec.Name, rec.Values)
				}
			}
			rates = append(rates, v)
			if rec.GetConfig("seed") != "7" {
				t.Errorf("%s has no seed", rec.Name)
			}
		case *benchfmt.SyntaxError:
			t.Error(rec)
		}
	}
	if err := r.Err(); err != nil {
		t.Error(err)
	}
	want := []string{"Lock/algorithm=a/servers=disk/loop=closed/clients=16/locks=1", "Lock/algorithm=a/servers=disk/loop=closed/clients=16/locks=1",
		"Lock/algorithm=b/servers=disk/loop=closed/clients=16/locks=1", "Lock/algorithm=b/servers=disk/loop=closed/clients=16/locks=1"}
	if !reflect.DeepEqual(names, want) || !reflect.DeepEqual(rates, []float64{100, 101, 200, 201}) {
		t.Errorf("%q %v", names, rates)
	}
}

// TestJSON: what is read is what was written.
func TestJSON(t *testing.T) {
	b := sample()
	text, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	var again Bench
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(b, &again) {
		t.Errorf("got %+v\nwant %+v", again, b)
	}
	if !strings.Contains(string(text), `"algorithm":"a","servers":"disk","loop":"closed","clients":16,"locks":1`) {
		t.Errorf("%s", text)
	}
	if got := b.Blank(); len(got) != 0 {
		t.Errorf("blank: %q", got)
	}
	b.Plan.Algorithms = append(b.Plan.Algorithms, "c")
	if got := b.Blank(); !reflect.DeepEqual(got, []string{"c"}) {
		t.Errorf("blank: %q", got)
	}
}
