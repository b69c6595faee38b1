package gate

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/history"
)

func TestParseLimit(t *testing.T) {
	for text, want := range map[string]Limit{
		"p(99) < 5ms":                 {"p(99) < 5ms", "p(99)", "<", .005, Itself},
		" p(50)<=1.5s ":               {"p(50) <= 1.5s", "p(50)", "<=", 1.5, Itself},
		"p(99.9) < 5ms":               {}, // nobody measures it
		"handoff >= 0.9 * baseline":   {"handoff >= 0.9 * baseline", "handoff", ">=", .9, Baseline},
		"p(50) <= 1.1*baseline":       {"p(50) <= 1.1*baseline", "p(50)", "<=", 1.1, Baseline},
		"cycle <= 1.1 * before":       {"cycle <= 1.1 * before", "cycle", "<=", 1.1, Before},
		"cycle <= 1.1 * after":        {},
		"cycle < baseline":            {"cycle < baseline", "cycle", "<", 1, Baseline},
		"grants > 200/s":              {"grants > 200/s", "grants", ">", 200, Itself},
		"fairness >= 90%":             {"fairness >= 90%", "fairness", ">=", .9, Itself},
		"requests <= 4":               {"requests <= 4", "requests", "<=", 4, Itself},
		"p(99) < 5":                   {}, // of what unit?
		"p(99) < 5 ms":                {},
		"p(0) < 5ms":                  {},
		"p(100) < 5ms":                {},
		"p(9.9.9) < 5ms":              {},
		"p99 < 5ms":                   {},
		"p(99) = 5ms":                 {},
		"p(99) == 5ms":                {},
		"p(99) < -5ms":                {},
		"p(99) < 0s":                  {},
		"handoffs > 3":                {},
		"handoff > 3ms":               {},
		"handoff > NaN":               {},
		"handoff > 1e3":               {},
		"handoff >= 0.9 baseline":     {},
		"handoff >= 0 * baseline":     {},
		"handoff >= baseline * 0.9":   {},
		"requests <= 4/s":             {},
		"fairness > 1.2.3":            {},
		"handoff > 3 and p(99) < 5ms": {},
		"":                            {},
	} {
		got, err := ParseLimit(text)
		if (err == nil) != (want != Limit{}) || err == nil && got != want {
			t.Errorf("%q is %+v, %v; want %+v", text, got, err, want)
		}
	}
}

// measured are figures by algorithm and name; "/" marks a share of the baseline's.
type measured map[string]map[string]Estimate

func (m measured) Algorithms() (names []string) {
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (m measured) Figure(algorithm, figure string, to To) (Estimate, string) {
	if to == Baseline {
		figure += "/"
	}
	if e, ok := m[algorithm][figure]; ok {
		return e, ""
	}
	return Estimate{}, unmeasured
}

// TestLimits: a limit is exceeded where the whole interval is past it, whatever the median
// is; what was not measured is no data.
func TestLimits(t *testing.T) {
	e := func(median, low, high float64) Estimate { return Estimate{Median: median, Low: low, High: high} }
	m := measured{
		"redis-a": {"p(99)": e(.004, .003, .006), "handoff/": e(.85, .8, .95), "handoff": e(100, 90, 110)},
		"redis-b": {"p(99)": e(.006, .0051, .007), "handoff/": e(.7, .65, .75), "handoff": e(70, 60, 80)},
		"etcd":    {"p(99)": e(.005, .005, .005)},
	}
	for text, want := range map[string]string{
		"p(99) < 5ms":                  "etcd limit exceeded, redis-b limit exceeded",
		"p(99) <= 5ms":                 "redis-b limit exceeded",
		"p(99) < 3.5ms":                "etcd limit exceeded, redis-b limit exceeded",
		"p(99) > 5ms":                  "etcd limit exceeded",
		"p(99) >= 5ms":                 "",
		"p(99) >= 7ms":                 "etcd limit exceeded, redis-a limit exceeded",
		"handoff >= 0.9 * baseline":    "etcd no data, redis-b limit exceeded",
		"handoff > 80":                 "etcd no data, redis-b limit exceeded",
		"outage < 1s":                  "etcd no data, redis-a no data, redis-b no data",
		"mysql-*: p(99) < 5ms":         "mysql-* no data",
		"redis-*: p(99) < 5ms":         "redis-b limit exceeded",
		"redis-a: cycle <= 1*baseline": "redis-a no data",
	} {
		algorithm, limit, ok := strings.Cut(text, ": ")
		if !ok {
			algorithm, limit = "", text
		}
		c, err := Parse("l.yaml", fmt.Appendf(nil, "limits: [{algorithm: %q, limit: %q}]", algorithm, limit))
		if err != nil {
			t.Fatal(err)
		}
		_, found := c.Judge(nil, nil, nil, m)
		var got []string
		for _, f := range found {
			got = append(got, f.Algorithm+" "+string(f.Kind))
		}
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("%s: %q, want %q", text, s, want)
		}
	}
}

func TestParseIsStrict(t *testing.T) {
	for text, want := range map[string]string{
		"limits:\n- p(99) < 5ms\n- algorithm: a\n  limt: p(99) < 5ms":      ":4: ",
		"limits:\n- {algorithm: a}":                                        ":2: limits[0]: \"\" is no limit",
		"limits:\n- algorithm: '['\n  limit: p(99) < 5ms":                  ":2: limits[0].algorithm: bad pattern",
		"promises:\n- fault: none\n  outcomes: [SAFE, safe]":               ":3: promises[0].outcomes[1]: \"safe\" is none of",
		"promises:\n- fault: none\n  outcomes: [INCONCLUSIVE]":             ":3: promises[0].outcomes[0]",
		"promises:\n- fault: none\n  outcome: [SAFE]":                      ":3: unknown field",
		"promises:\n- fault: none\n  require: SAFE\n  outcomes: [SAFE]":    ":2: promises[0]: either",
		"promises:\n- fault: a\n  outcomes: [CHECK]\n  reason: overstayed": ":4: promises[0].reason: \"overstayed\"",
		"require: SAFE\nrun: 7":                                            ":2: ",
		"require: [SAFE]":                                                  ":1: ",
		"require: BROKEN":                                                  ":1: require: \"BROKEN\" is none of SAFE, CHECK, FENCE",
		"require: SAFE\n\tx: [":                                            ":2: ",
		"promises:\n  - fault: [a":                                         ":2: ",
	} {
		_, err := Parse("c.yaml", []byte(text))
		var line *history.LineError
		if !errors.As(err, &line) || !strings.Contains(err.Error(), "c.yaml"+want) {
			t.Errorf("%s\n%v, want %s", text, err, want)
		}
	}
}
