package main

import (
	"fmt"
	"strings"
)

// head begins the page.
const head = `# What surveys say of distributed locks, and what lockbench measured

Four documents are read here: 000, an overview of locks on Redis, ZooKeeper and etcd; 001, a lock on
etcd with a program in Java; 002, a survey of locks on databases, Redis and ZooKeeper; 004, a page on
ZooKeeper's lock and on why ensembles have an odd number of servers. Each statement that can be
checked has a row: where it stands, what it says in our words, the command, and what came out.

` + "`make claims`" + ` runs the commands and makes this page; ` + "`go run ./internal/claims -only 002-29`" + ` runs
those of some statements. The list is in [internal/claims/list](../internal/claims/list), and what the commands
gave is in [claims.json](claims.json). The verdict is computed from that, by the conditions of the list:

- **confirmed**, **refuted**: what was measured says so. A break refutes a promise of safety with one run; that
  nobody was hurt in so many runs leaves open what is said in brackets (95%).
- **depends**: true in one situation that the statement covers, and false in another.
- **undecided**: the command was run, and its outcome says neither.
- **not run yet**: there is a command, and no outcome of it.
- **by reading**: the document's own listing shows it, and no server has a part in it, so that there is no command.

A cell is *lock × fault: outcome*, as in [cells.md](cells.md); its figure is in how many of so many runs the
lock broke or somebody was hurt, and between which shares that lies. Figures of cost are
medians of rounds with their 95% interval, on servers that wait for the disk unless it says *in memory*. What the documents say of the
locks inside of one Java program is left out: these are no distributed locks.
`

// page is docs/claims.md.
func page(docs []document, r *record) string {
	var b strings.Builder
	b.WriteString(head)
	b.WriteString("\n| document | statements |")
	for _, v := range verdicts {
		fmt.Fprintf(&b, " %s |", v)
	}
	b.WriteString("\n|---|--:|" + strings.Repeat("--:|", len(verdicts)) + "\n")
	var of []claim
	for _, d := range docs {
		of = append(of, d.Claims...)
		count(&b, d.Number, d.Claims, r)
	}
	count(&b, "all", of, r)
	for _, d := range docs {
		fmt.Fprintf(&b, "\n## %s: %s\n\n| | where | what it says | command | what came out | verdict |\n|---|---|---|---|---|---|\n", d.Number, d.Title)
		for _, c := range d.Claims {
			b.WriteString(row(c, judge(c, r.of(c.Run))))
		}
	}
	return b.String()
}

// count writes the row of the table at the top.
func count(b *strings.Builder, name string, claims []claim, r *record) {
	n := map[verdict]int{}
	for _, c := range claims {
		n[judge(c, r.of(c.Run)).verdict]++
	}
	fmt.Fprintf(b, "| %s | %d |", name, len(claims))
	for _, v := range verdicts {
		fmt.Fprintf(b, " %d |", n[v])
	}
	b.WriteString("\n")
}

// row is a statement on the page.
func row(c claim, j judgement) string {
	command := "`lockbench " + c.Run + "`"
	if c.Reading != "" {
		command = ""
	}
	came := strings.Join(j.facts, "; ")
	if c.Note != "" {
		came = strings.TrimPrefix(came+". "+c.Note, ". ")
	}
	is := "**" + string(j.verdict) + "**"
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
func recorded(text string) map[string]verdict {
	all := map[string]verdict{}
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) != 6 || !strings.HasPrefix(cells[0], "| ") {
			continue
		}
		is, _, _ := strings.Cut(strings.TrimPrefix(cells[5], "**"), "**")
		all[strings.TrimPrefix(cells[0], "| ")] = verdict(is)
	}
	return all
}
