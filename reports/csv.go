package reports

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"github.com/lockbench/lockbench/checker"
)

// columns are those of the CSV: named as in the JSON of a cell, where they are there. The
// bounds of the share of runs that broke are empty where no run proved anything.
var columns = []struct {
	name  string
	value func(checker.Cell) any
}{
	{"algorithm", func(c checker.Cell) any { return c.Algorithm }},
	{"fault", func(c checker.Cell) any { return c.Fault }},
	{"outcome", func(c checker.Cell) any { return c.Outcome }},
	{"mechanism", func(c checker.Cell) any { return c.Mechanism }},
	{"promise", func(c checker.Cell) any { return c.Promise }},
	{"runs", func(c checker.Cell) any { return c.Runs }},
	{"violations", func(c checker.Cell) any { return c.Violations }},
	{"share_low", func(c checker.Cell) any { return bound(c.Share, func(s *checker.Share) float64 { return s.Low }) }},
	{"share_high", func(c checker.Cell) any { return bound(c.Share, func(s *checker.Share) float64 { return s.High }) }},
	{"inconclusive", func(c checker.Cell) any { return c.Inconclusive }},
	{"failed", func(c checker.Cell) any { return c.Failed }},
	{"sections", func(c checker.Cell) any { return c.Sections }},
	{"outage_ms", func(c checker.Cell) any { return c.OutageMS }},
	{"first_violation_ms", func(c checker.Cell) any { return c.FirstViolationMS }},
	{"seed", func(c checker.Cell) any { return c.Seed }},
	{"dir", func(c checker.Cell) any { return c.Dir }},
	{"reason", func(c checker.Cell) any { return c.Reason }},
	{"expected", func(c checker.Cell) any { return c.Expected }},
	{"effect", func(c checker.Cell) any { return c.Effect }},
	{"servers", func(c checker.Cell) any { return c.Servers }},
}

func bound(s *checker.Share, of func(*checker.Share) float64) string {
	if s == nil {
		return ""
	}
	return strconv.FormatFloat(of(s), 'f', 4, 64)
}

// CSV writes a line for each cell, below a line with the names of the columns.
func (g Gated) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	var line []string
	for _, col := range columns {
		line = append(line, col.name)
	}
	_ = out.Write(line) // an error stays, for Error
	for _, c := range g.Cells {
		line = line[:0]
		for _, col := range columns {
			line = append(line, fmt.Sprint(col.value(c)))
		}
		_ = out.Write(line)
	}
	out.Flush()
	return out.Error()
}
