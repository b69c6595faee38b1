package cost

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// Text is the benchmark in Go's benchmark format, one line for each cell and round, which
// benchstat and all that read that format compare. The names have the form
//
//	BenchmarkLock/algorithm=redlock/servers=disk/loop=closed/clients=16/locks=1
//
// and each measure is a unit of its own, such as "cycle-ns" or "handoffs/s".
func (b *Bench) Text() ([]byte, error) {
	var out bytes.Buffer
	w := benchfmt.NewWriter(&out)
	for _, c := range b.Cells {
		for round := range max(b.Plan.Rounds, b.Rounds) {
			res := b.result(c, round)
			if len(res.Values) == 0 {
				continue
			}
			if err := w.Write(res); err != nil {
				return nil, fmt.Errorf("write the text form: %w", err)
			}
		}
	}
	return out.Bytes(), nil
}

func (b *Bench) result(c *Cell, round int) *benchfmt.Result {
	res := &benchfmt.Result{Name: benchfmt.Name(c.benchmark()), Iters: 1}
	res.Config = b.config()
	for _, m := range slices.Sorted(maps.Keys(c.Figures)) {
		for _, v := range c.Figures[m].Values {
			if v.Round == round {
				res.Values = append(res.Values, benchfmt.Value{Value: v.V, Unit: textUnit(m)})
			}
		}
	}
	return res
}

func (k Key) benchmark() string {
	return fmt.Sprintf("Lock/algorithm=%s/servers=%s/loop=%s/clients=%d/locks=%d",
		strings.ReplaceAll(k.Algorithm, "/", "-"), k.Servers, k.Loop, k.Clients, k.Locks)
}

// config is what holds for every line.
func (b *Bench) config() (list []benchfmt.Config) {
	add := func(key, value string) {
		if value != "" {
			list = append(list, benchfmt.Config{Key: key, Value: []byte(value), File: true})
		}
	}
	if m := b.Plan.Machine; m != nil {
		goos, arch, _ := strings.Cut(m.System, "/")
		add("goos", goos)
		add("goarch", arch)
		add("cores", strconv.Itoa(m.Cores))
	}
	add("pkg", "github.com/lockbench/lockbench")
	add("seed", strconv.FormatUint(b.Plan.Seed, 10))
	return list
}

// textUnit is the measure's name where its unit alone would not tell it from others.
func textUnit(m Measure) string {
	switch m {
	case Grants, HandOffs, Requests, Bytes, Packets, WakeUps:
		return Units[m]
	}
	return string(m) + "-" + strings.ReplaceAll(Units[m], "/grant", "")
}
