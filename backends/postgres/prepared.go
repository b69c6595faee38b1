package postgres

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// prepared is a password in the form in which all write it the same: spaces are one, letters
// that look the same too, and what nobody sees is left out (SASLprep, RFC 4013). As in PostgreSQL,
// what is no text is left as it is.
func prepared(password string) string {
	if !utf8.ValidString(password) {
		return password
	}
	form := norm.NFKC.String(strings.Map(func(r rune) rune {
		switch {
		case r > unicode.MaxASCII && unicode.Is(unicode.Zs, r):
			return ' '
		case unseen(r):
			return -1
		}
		return r
	}, password))
	if form == "" || strings.ContainsFunc(form, unicode.IsControl) {
		return password
	}
	return form
}

// unseen are those of RFC 3454, table B.1.
func unseen(r rune) bool {
	switch r {
	case 0x00AD, 0x034F, 0x1806, 0x180B, 0x180C, 0x180D, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF:
		return true
	}
	return r >= 0xFE00 && r <= 0xFE0F
}
