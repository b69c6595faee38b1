package main

import (
	"fmt"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/workloads"
)

// shop sells from a stock: the sections of the counter, judged in the words of a shop.
type shop struct{ workloads.Counter }

func (s shop) Info() workloads.Info {
	info := s.Counter.Info()
	info.Name, info.Doc = "shop", "sell one item a section, and write down how many were sold"
	return info
}

// Judge compares what was sold with what the books say. Items whose sale was overwritten
// will be sold once more.
func (shop) Judge(ix *history.Index, _ history.Plan) checker.Layer {
	sold, booked := int64(0), int64(0)
	for i := range ix.Accesses {
		if a := &ix.Accesses[i]; a.Write && a.Plain.Result == history.Landed {
			sold, booked = sold+1, a.Plain.New
		}
	}
	layer := checker.Layer{Name: "shop", Verdict: checker.Valid, Summary: fmt.Sprintf("%d sold, and the books say so", sold)}
	switch {
	case sold == 0:
		layer.Verdict, layer.Summary = checker.Vacuous, "nothing was sold"
	case sold > booked:
		layer.Verdict, layer.Count = checker.Invalid, 1
		layer.Summary = fmt.Sprintf("oversold by %d: %d sold, %d in the books", sold-booked, sold, booked)
		layer.Findings = []checker.Finding{{Layer: layer.Name, Sentence: layer.Summary, At: ix.Last, From: ix.Start, To: ix.Last}}
	}
	return layer
}
