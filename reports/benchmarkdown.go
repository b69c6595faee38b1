package reports

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
)

// benchMarkdown writes the tables of the benchmarks that belong into a summary, as narrow as
// on a terminal. Of several, first what they have in common.
func benchMarkdown(w io.Writer, list []namedBench) error {
	if len(list) == 0 {
		return nil
	}
	b := bufio.NewWriter(w)
	fmt.Fprint(b, "\n## What does it cost?\n")
	for _, one := range list {
		for _, r := range benchRemarks(one.Bench) {
			fmt.Fprintf(b, "\n%s\n", escapeMD(one.titled(r)))
		}
	}
	if len(list) == 1 {
		oneBenchMarkdown(b, list[0], false)
		return b.Flush()
	}
	for _, d := range differences(list) {
		fmt.Fprintf(b, "\n- **%s**: %s", escapeMD(d.Name), escapeMD(d.Facts))
	}
	fmt.Fprintln(b)
	for _, t := range sidesTables(list) {
		tableMarkdown(b, t, locksOfAll(list))
	}
	for _, one := range list {
		fmt.Fprintf(b, "\n<details><summary>%s</summary>\n", escapeMD(one.name))
		oneBenchMarkdown(b, one, false)
		fmt.Fprint(b, "\n</details>\n")
	}
	return b.Flush()
}

// oneBenchMarkdown writes all tables of a benchmark, or those that belong into a summary.
func oneBenchMarkdown(b io.Writer, bench namedBench, all bool) {
	if s := diskRemark(bench.Bench); s != "" {
		fmt.Fprintf(b, "\n%s\n", escapeMD(s))
	}
	for _, t := range benchTables(bench.Bench) {
		if t.Brief || all {
			tableMarkdown(b, t, bench.Plan.Algorithms)
		}
	}
}

func tableMarkdown(b io.Writer, t benchTable, locks []string) {
	fmt.Fprintf(b, "\n**%s**\n", escapeMD(t.Title))
	for _, s := range t.Told {
		fmt.Fprintf(b, "\n%s\n", escapeMD(s))
	}
	fmt.Fprint(b, "\n| |")
	columns := slices.DeleteFunc(slices.Clone(t.Columns), func(c benchColumn) bool { return c.width == 0 })
	for _, c := range columns {
		fmt.Fprintf(b, " %s |", escapeMD(c.Head))
	}
	fmt.Fprintf(b, "\n|---|%s\n", strings.Repeat("--:|", len(columns)))
	for _, lock := range locks {
		fmt.Fprintf(b, "| %s |", escapeMD(lock))
		for _, c := range columns {
			fmt.Fprintf(b, " %s |", strings.TrimSpace(c.show(lock)))
		}
		fmt.Fprintln(b)
	}
}
