package history_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/testkit/shorthand"
)

// TestDocs runs the examples of docs/history.md.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile("../docs/history.md")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for line, example := range examples(string(text)) {
		t.Run(fmt.Sprintf("line %d", line), func(t *testing.T) { try(t, example) })
		ran++
	}
	if ran < 59 {
		t.Errorf("only %d examples were found", ran)
	}
}

// examples are the indented blocks that say what is to be expected, by their line.
func examples(text string) map[int]string {
	found := map[int]string{}
	var block []string
	flush := func(end int) {
		if s := strings.Join(block, "\n"); strings.Contains(s, "⇒") {
			found[end-len(block)] = s
		}
		block = nil
	}
	for i, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "    ") {
			block = append(block, strings.TrimSpace(line))
			continue
		}
		flush(i + 1)
	}
	return found
}

func try(t *testing.T, example string) {
	var raw []byte
	s := shorthand.Sketch{}
	if strings.HasPrefix(example, "{") {
		events, wants, _ := strings.Cut(example, "\n⇒")
		raw = []byte(events)
		for want := range strings.SplitSeq(wants, "\n⇒") {
			s.Wants = append(s.Wants, strings.TrimSpace(want))
		}
	} else {
		var err error
		if s, err = shorthand.Parse(example); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := history.WriteTo(&b, s.Events); err != nil {
			t.Fatal(err)
		}
		raw = b.Bytes()
	}
	ix, err := history.ReadFrom(t.Context(), bytes.NewReader(raw), "example")
	if refused, ok := strings.CutPrefix(s.Wants[0], "refused line "); ok {
		number, why, _ := strings.Cut(refused, ": ")
		var line *history.LineError
		if !errors.As(err, &line) || fmt.Sprint(line.Line) != number || !strings.Contains(err.Error(), why) {
			t.Errorf("%s\nis refused with %v, want line %s: %s", example, err, number, why)
		}
		return
	}
	if err != nil {
		t.Fatalf("%s\n%v", example, err)
	}
	res := checker.Check(t.Context(), s.Plan, ix)
	for _, want := range s.Wants {
		name, verdict, _ := strings.Cut(want, " ")
		got, why := string(res.Outcome), res.Reason
		if name != "outcome" {
			i := slices.IndexFunc(res.Layers, func(l checker.Layer) bool { return l.Name == name })
			if i < 0 {
				t.Errorf("%s\nthere is no layer %s", example, name)
				continue
			}
			got, why = string(res.Layers[i].Verdict), res.Layers[i].Summary
		}
		if got != verdict {
			t.Errorf("%s\n%s is %s: %s", example, name, got, why)
		}
	}
}
