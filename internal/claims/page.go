package main

import (
	"fmt"
	"strings"
)

// pageOf is the page.
func (k book) pageOf(docs []document, r *record) string {
	var b strings.Builder
	b.WriteString(k.head)
	fmt.Fprintf(&b, "\n| document | %s |", k.of)
	for _, v := range k.verdicts {
		fmt.Fprintf(&b, " %s |", k.word(v))
	}
	b.WriteString("\n|---|--:|" + strings.Repeat("--:|", len(k.verdicts)) + "\n")
	var of []claim
	for _, d := range docs {
		of = append(of, d.Claims...)
		k.count(&b, d.Number, d.Claims, r)
	}
	k.count(&b, "all", of, r)
	for _, d := range docs {
		fmt.Fprintf(&b, "\n## "+k.section+"\n\n| | where | "+k.says+" | command | what came out | verdict |\n|---|---|---|---|---|---|\n", d.Number, d.Title)
		for _, c := range d.Claims {
			b.WriteString(k.row(c, judge(c, r.of(c.Run))))
		}
	}
	return b.String()
}

// count writes the row of the table at the top.
func (k book) count(b *strings.Builder, name string, claims []claim, r *record) {
	n := map[verdict]int{}
	for _, c := range claims {
		n[judge(c, r.of(c.Run)).verdict]++
	}
	fmt.Fprintf(b, "| %s | %d |", name, len(claims))
	for _, v := range k.verdicts {
		fmt.Fprintf(b, " %d |", n[v])
	}
	b.WriteString("\n")
}

// row is a statement on the page.
func (k book) row(c claim, j judgement) string {
	command := "`lockbench " + c.Run + "`"
	if c.Run == "" {
		command = ""
	}
	came := strings.Join(j.facts, "; ")
	if c.Note != "" {
		came = strings.TrimPrefix(came+". "+c.Note, ". ")
	}
	is := "**" + k.word(j.verdict) + "**"
	if j.verdict == depends {
		is += " on " + c.On
	}
	if c.Reading != "" {
		is += " by reading"
	}
	cells := []string{c.ID, c.Place, c.Says, command, came, is}
	for i := range cells {
		cells[i] = strings.ReplaceAll(cells[i], "|", "\\|")
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

// recorded reads the verdicts of a page.
func (k book) recorded(text string) map[string]verdict {
	all := map[string]verdict{}
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) != 6 || !strings.HasPrefix(cells[0], "| ") {
			continue
		}
		is, _, _ := strings.Cut(strings.TrimPrefix(cells[5], "**"), "**")
		all[strings.TrimPrefix(cells[0], "| ")] = k.verdict(is)
	}
	return all
}
