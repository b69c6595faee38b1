// Package languages has the locks that libraries of other languages bring, unmodified: each by
// way of a program that speaks docs/protocol.md, in adapters/. What such a program says of
// itself is in the file beside it, and what is expected of the lock here.
//
// A new one needs its adapter, its description, a function here and a line in all.go.
package languages
