// Package sqlserver is what servers have in common that are asked in SQL.
package sqlserver

import (
	"cmp"
	"strings"
	"unicode"
)

// Verb is the first word of a statement in SQL in small letters, behind comments, which say what
// program has sent it, and parentheses; "query" where there is none.
func Verb(statement string) string {
	word := bare(statement, space+"(")
	if end := strings.IndexFunc(word, func(r rune) bool { return !unicode.IsLetter(r) }); end >= 0 {
		word = word[:end]
	}
	return cmp.Or(strings.ToLower(word), "query")
}

// Blank reports whether a statement says nothing, but for comments.
func Blank(statement string) bool { return bare(statement, space+";") == "" }

const space = " \t\r\n"

// bare is a statement without the comments that it begins with, and without what may be between them.
func bare(statement, between string) string {
	for {
		statement = strings.TrimLeft(statement, between)
		end := "\n"
		switch {
		case strings.HasPrefix(statement, "/*"):
			end = "*/"
		case !strings.HasPrefix(statement, "--"):
			return statement
		}
		_, rest, ok := strings.Cut(statement[2:], end)
		if !ok && end == "*/" {
			return statement // it does not end
		}
		statement = rest
	}
}
