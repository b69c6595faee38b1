package reports

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/lockbench/lockbench/internal/cost"
	"github.com/lockbench/lockbench/internal/english"
)

// benchRemarks are what a reader must know before any figure.
func benchRemarks(b *cost.Bench) (list []string) {
	switch {
	case b.Rounds == 0 && b.Programs == 0:
		list = append(list, "No round was done: there are no figures.")
	case !b.Done():
		list = append(list, fmt.Sprintf("Not finished: %d of %d rounds were done.", b.Rounds, b.Plan.Rounds))
	}
	for _, n := range b.Noise {
		list = append(list, "The machine was not quiet: "+n+".")
	}
	list = append(list, farRemarks(b)...)
	list = append(list, sureRemark(b)...)
	list = append(list, coresRemark(b)...)
	if n := len(b.Plan.Programs); n > 0 {
		had := "They"
		if b.Rounds == 0 && b.Programs < n { // they come first
			had = fmt.Sprintf("%d of %d", b.Programs, n)
		}
		list = append(list, fmt.Sprintf("In a program beside each client: %s. Their times, and clients' processor time, contain the way to it and through its gate, some tenths of a millisecond a cycle. %s had one turn in front of the rounds, since so many take seconds to start.",
			strings.Join(b.Plan.Programs, ", "), had))
	}
	return list
}

// sureRemark says how many of the figures that decide the benchmark is sure of.
func sureRemark(b *cost.Bench) []string {
	all, unsure := len(b.Judge()), len(b.Unsure())
	if b.Plan.Precision == 0 || all == 0 {
		return nil
	}
	said := fmt.Sprintf("Of %s, held against the bare writes of the same server and round, %d have a 95%% interval within ±%.0f%%.",
		english.Count(all, "figure")+" of cycles and hand-offs", all-unsure, 100*b.Plan.Precision)
	if n := b.Needed(); n > b.Rounds {
		said += fmt.Sprintf(" If the machine stays as it was, nine of ten should have it after about %s rounds of all (--rounds, and --budget in proportion): %d were done.",
			roughly(n), b.Rounds)
	}
	return []string{said}
}

// roughly is a number of which only the first digit is meant, which is rather too large.
func roughly(n int) string {
	unit := int(math.Pow10(len(strconv.Itoa(n)) - 1))
	return strconv.Itoa((n + unit - 1) / unit * unit)
}

// coresRemark says where clients and servers ran, and what that did.
func coresRemark(b *cost.Bench) []string {
	switch {
	case b.Cores == nil: // it was not asked then
		return nil
	case b.Cores.Left != "":
		return []string{"Where clients and servers ran the kernel decided, and a cycle can take several times as long on one processor as on another: " + b.Cores.Left + "."}
	}
	said := fmt.Sprintf("Clients ran on %s, servers on %s", cores(b.Cores.Clients), cores(b.Cores.Servers))
	if b.Cores.Asleep != "" {
		return []string{said + ", which may have slept in between: " + b.Cores.Asleep + "."}
	}
	said += "; all were kept from sleeping."
	more := cost.Figure{}
	for i, c := range b.Cells {
		if r := cost.Ratio(c.Figures[cost.Asleep], c.Figures[cost.Cycle]); len(r.Values) > 0 {
			more.Add(i, r.Median)
		}
	}
	if n := len(more.Values); n > 0 {
		said += fmt.Sprintf(" Where they may sleep, a cycle in memory takes %s times as long: the median of %s.", digits(more.Median), english.Count(n, "lock"))
	}
	return []string{said}
}

func cores(list []int) string {
	s := strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ", "), "[]")
	if len(list) == 1 {
		return "core " + s
	}
	return "cores " + s
}

// diskRemark is the time that the disk itself takes, "" where it was not measured.
func diskRemark(b *cost.Bench) string {
	if len(b.Sync) == 0 {
		return ""
	}
	return fmt.Sprintf("The disk: a write of 4 KiB with fdatasync takes %s; 1 of 100 takes %s or more.",
		span(ms(cost.At(b.Sync, .5))), span(ms(cost.At(b.Sync, .99))))
}
