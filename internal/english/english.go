// Package english has the words that every part of the program needs: numbers with their nouns,
// choices, and the names that were perhaps meant.
package english

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Count is a number with its noun, such as "1 server" and "2 servers". The noun is given in the
// singular, and is a regular one.
func Count[N int | uint64](n N, noun string) string {
	return fmt.Sprint(n) + " " + Noun(n, noun)
}

// Noun is the noun of [Count] without its number.
func Noun[N int | uint64](n N, noun string) string {
	if n == 1 {
		return noun
	}
	end := func(of string) bool { return strings.HasSuffix(noun, of) }
	switch {
	case end("sh"), end("s"), end("x"), end("ch"):
		return noun + "es"
	case end("y") && !end("ay") && !end("ey") && !end("oy"):
		return strings.TrimSuffix(noun, "y") + "ies"
	}
	return noun + "s"
}

// Or is a choice: "a", "a or b", "a, b or c".
func Or(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// Near ends an error about an unknown name with those that were perhaps meant, the nearest first,
// or else with all.
func Near(name string, all []string) string {
	var close []string
	for _, n := range all {
		if distance(name, n) <= 1+len(name)/3 || name != "" && strings.Contains(n, name) {
			close = append(close, n)
		}
	}
	if len(close) == 0 {
		return "; there are " + strings.Join(all, ", ")
	}
	slices.SortStableFunc(close, func(a, b string) int { return cmp.Compare(distance(name, a), distance(name, b)) })
	return "; did you mean " + strings.Join(close, ", ") + "?"
}

// distance is the number of letters to insert, delete or replace (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal, row[j+1] = row[j+1], min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
