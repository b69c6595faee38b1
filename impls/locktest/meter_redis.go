package locktest

import (
	"bytes"
	"strconv"
	"strings"
)

// redisProtocol hears commands, each by itself where several are sent together; but
// a transaction, from MULTI to EXEC, is one.
func redisProtocol() *protocol {
	transaction := false
	return &protocol{
		size: func(b []byte) int { n, _ := command(b); return n },
		request: func(b []byte) string {
			_, name := command(b)
			switch name {
			case "HELLO", "AUTH", "SELECT", "CLIENT", "READONLY", "PING", "QUIT":
				return ""
			case "MULTI":
				transaction = true
			case "EXEC", "DISCARD":
				transaction = false
			}
			if transaction {
				return ""
			}
			return name
		},
	}
}

// command is the length and the name of the first one, an array of strings:
// *2\r\n$3\r\nGET\r\n$1\r\na\r\n. Both are zero if it is not complete.
func command(b []byte) (length int, name string) {
	words, at, ok := number(b, 0)
	for i := 0; ok && i < words; i++ {
		var n int
		if n, at, ok = number(b, at); !ok || at+n+2 > len(b) {
			return 0, ""
		}
		if i == 0 {
			name = strings.ToUpper(string(b[at : at+n]))
		}
		at += n + 2
	}
	if !ok {
		return 0, ""
	}
	return at, name
}

// number reads the line at from, a sign and a number, and returns where the next
// one begins.
func number(b []byte, from int) (n, next int, ok bool) {
	end := bytes.Index(b[from:], []byte("\r\n"))
	if end < 1 {
		return 0, 0, false
	}
	n, err := strconv.Atoi(string(b[from+1 : from+end]))
	return n, from + end + 2, err == nil
}
