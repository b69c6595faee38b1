package reports

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/internal/gate"
	"github.com/lockbench/lockbench/internal/rundir"
)

// Gated are cells with what they do to a gate: all that a CI is told.
type Gated struct {
	Cells []checker.Cell
	// Planned is how many runs each cell was to have, 0 where nobody said.
	Planned int
	// Findings are the reasons to fail, and Exit the exit code that they make.
	Findings []gate.Finding
	Exit     int
}

// JSON writes one object: the cells, as a matrix's, and the gate. docs/cells.schema.json
// is its schema.
func (g Gated) JSON(w io.Writer) error {
	type result struct {
		Exit     int            `json:"exit"`
		Findings []gate.Finding `json:"findings"`
	}
	if g.Findings == nil {
		g.Findings = []gate.Finding{}
	}
	if g.Cells == nil {
		g.Cells = []checker.Cell{}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(struct {
		rundir.MatrixFile
		Gate result `json:"gate"`
	}{rundir.MatrixFile{Schema: history.Schema, Planned: g.Planned, Cells: g.Cells}, result{g.Exit, g.Findings}})
}

// Terminal writes why the gate failed, below a [Matrix] of its cells.
func (g Gated) Terminal(w io.Writer, color bool, width int) error {
	t := terminal{Writer: bufio.NewWriter(w), color: color, width: max(width, minWidth)}
	t.line("")
	if len(g.Findings) == 0 {
		t.line("The gate is open.")
		return t.Flush()
	}
	t.line(t.paint("1;97;41", fmt.Sprintf("THE GATE IS CLOSED: %s, exit code %d", english.Count(len(g.Findings), "reason"), g.Exit)))
	for _, f := range g.Findings {
		t.line(t.paint("1", "  "+f.Where()+": "+string(f.Kind)))
		t.text("    ", told(f))
		if f.Declared != "" {
			t.text("    ", "declared: "+f.Declared)
		}
		if f.Again != "" {
			t.line("    again: " + f.Again) // whole, to be pasted
		}
	}
	return t.Flush()
}

// told is what came out, and why that is a reason to fail.
func told(f gate.Finding) string {
	if f.Outcome == "" || f.Kind == gate.NoData {
		return f.Says
	}
	return strings.TrimSuffix(string(f.Outcome)+": "+f.Says, ": ")
}

// Markdown writes a summary for the page of a CI, led by why the gate failed.
func (g Gated) Markdown(w io.Writer) error {
	return markdown(w, g.Cells, g.Planned, func(b io.Writer, all grid) {
		defer markdownTake(b, all, planIn)
		if len(g.Findings) == 0 {
			fmt.Fprint(b, "\n✅ The gate is open.\n")
			return
		}
		fmt.Fprintf(b, "\n### ❌ The gate is closed: %s\n\n", english.Count(len(g.Findings), "reason"))
		for i, f := range g.Findings {
			if i == markdownReasons {
				fmt.Fprintf(b, "- … and %d more\n", len(g.Findings)-i)
				break
			}
			fmt.Fprintf(b, "- **%s**: %s. %s", escapeMD(f.Where()), f.Kind, escapeMD(told(f)))
			if f.Declared != "" {
				fmt.Fprintf(b, "; declared: %s", escapeMD(f.Declared))
			}
			fmt.Fprintln(b)
			if f.Again != "" {
				fmt.Fprintf(b, "\n      %s\n\n", f.Again)
			}
		}
	})
}
