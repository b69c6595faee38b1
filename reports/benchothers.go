package reports

import (
	"fmt"

	"github.com/lockbench/lockbench/internal/cost"
)

// elsewhere is a figure that others have published, with their hardware and their source,
// and the one of ours that is nearest to it: a check that ours are plausible. There are
// few of locks that name the machine they were measured on; none is shown that doesn't.
type elsewhere struct {
	What, Theirs, Hardware, Source string
	kind                           string // of the topology
	measure                        cost.Measure
}

var publishedFigures = []elsewhere{{
	What: "etcd, one client reads a key, one member", Theirs: "368 µs on average (2,716 per second), 400 µs at 90%",
	Hardware: "GCE n1-highcpu-2: 2 CPUs, 1.8 GB, local SSD; client on another machine; etcd 2.2.0",
	Source:   "etcd.io/docs/v3.5/benchmarks/etcd-3-demo-benchmarks, 256 bytes, 1 client",
	kind:     "etcd", measure: cost.Floor,
}}

// benchOthers are the sentences about them, for what was measured here. Of servers that were given nobody knows how
// many they are, nor where.
func benchOthers(b *cost.Bench) (list []string) {
	if b.Main() == cost.Given {
		return nil
	}
	for _, e := range publishedFigures {
		for _, c := range b.Cells {
			if f := c.Figures[e.measure]; f != nil && c.Topology == e.kind && c.Servers == b.Main() {
				list = append(list, fmt.Sprintf("%s: %s here; %s elsewhere (%s; %s).", e.What, duration(f), e.Theirs, e.Hardware, e.Source))
				break
			}
		}
	}
	return list
}
