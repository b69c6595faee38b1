package reports

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strconv"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/gate"
	"github.com/lockbench/lockbench/internal/rundir"
)

// The elements of JUnit's XML that every CI reads.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Skipped  int          `xml:"skipped,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Time     string      `xml:"time,attr,omitempty"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string     `xml:"classname,attr"`
		Name    string     `xml:"name,attr"`
		Time    string     `xml:"time,attr,omitempty"` // "" where nobody knows it
		Failure *junitText `xml:"failure"`
		Error   *junitText `xml:"error"`
		Skipped *junitText `xml:"skipped"`
		Out     string     `xml:"system-out,omitempty"`
	}
	junitText struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// JUnit writes the cells as tests: a suite for each algorithm with a test for each fault,
// and one for what is not about a cell. What is broken is a failure, what proves nothing
// an error, and what has no meaning, or is another shard's, is skipped.
func (g Gated) JUnit(w io.Writer) error {
	all := junitSuites{Name: "lockbench"}
	m := newGrid(g.Cells, g.Planned)
	left := slices.Clone(g.Findings)
	for _, row := range m.Rows {
		s, took := junitSuite{Name: row}, 0.
		for _, col := range m.Cols {
			if c := m.At(row, col); c != nil {
				t := junitCase{Class: row, Name: col, Time: junitTime(c.TookMS), Out: c.Reason}
				took += c.TookMS
				if c.Outcome == lb.NotAvailable || c.Runs == 0 && c.Reason == rundir.Elsewhere {
					t.Skipped, t.Out = &junitText{Message: c.Reason}, ""
				}
				left = slices.DeleteFunc(left, func(f gate.Finding) bool {
					mine := f.Limit == "" && f.Algorithm == row && f.Fault == col
					if mine {
						t.fail(f, c)
					}
					return mine
				})
				s.add(t)
			}
		}
		s.Time = junitTime(took)
		all.add(s)
	}
	if len(left) > 0 {
		s := junitSuite{Name: "gate"}
		for _, f := range left {
			t := junitCase{Class: "gate", Name: f.Where()}
			t.fail(f, nil)
			s.add(t)
		}
		all.add(s)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// junitTime is a time in seconds.
func junitTime(ms float64) string {
	if ms <= 0 {
		return ""
	}
	return strconv.FormatFloat(ms/1000, 'f', 3, 64)
}

func (t *junitCase) fail(f gate.Finding, c *checker.Cell) {
	text := &junitText{Message: told(f), Type: string(f.Kind)}
	if f.Declared != "" {
		text.Text += "declared: " + f.Declared + "\n"
	}
	if c != nil && c.Effect != "" {
		text.Text += "the fault: " + c.Effect + "\n"
	}
	if f.Again != "" {
		text.Text += fmt.Sprintf("again: %s\n", f.Again)
	}
	switch f.Kind {
	case gate.Undecided, gate.NoData:
		t.Error = text
	default:
		t.Failure = text
	}
}

func (s *junitSuite) add(t junitCase) {
	s.Cases = append(s.Cases, t)
	s.Tests++
	switch {
	case t.Failure != nil:
		s.Failures++
	case t.Error != nil:
		s.Errors++
	case t.Skipped != nil:
		s.Skipped++
	}
}

func (all *junitSuites) add(s junitSuite) {
	all.Suites = append(all.Suites, s)
	all.Tests, all.Failures, all.Errors, all.Skipped = all.Tests+s.Tests, all.Failures+s.Failures, all.Errors+s.Errors, all.Skipped+s.Skipped
}
