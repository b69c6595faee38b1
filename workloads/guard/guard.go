// Package guard holds the protected store's fenced copy in databases that people have,
// refused late writes by the statement that one writes there in practice: the fencing
// token is kept beside the value, and what carries a lower one changes nothing.
//
// The databases are in the folders of backends; here is what they have in common.
//
// A token is stale from the moment that a later holder has been there, be it to read.
package guard

import "context"

// Guard is one connection to such a database. It is used by one goroutine at a time.
type Guard interface {
	// Admit does all claims in one transaction, or none of them where one carries a
	// lower token than its record has seen, and returns what the records held before.
	Admit(ctx context.Context, claims []Claim) (before []int64, admitted bool, err error)
	Close() error
}

// Claim is one record that the holder of a lock reads or writes.
type Claim struct {
	Record string
	// Token of the holder's grant: 1 to 2^53, which is what a script in Redis can count.
	Token uint64
	// First is what a record holds that nobody has claimed yet.
	First int64
	// New is what to write, nil to read.
	New *int64
}

// Database is one that can keep the fenced copy. A catalogue has a list of them.
type Database struct {
	Name, Doc string
	Topology  string // that serves it
	// Statement is what refuses, as one would write it.
	Statement string
	Open      func(ctx context.Context, addr string) (Guard, error)
}
