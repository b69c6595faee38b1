// Package guard holds the protected store's fenced copy in databases that people have,
// refused late writes by the statement that one writes there in practice: the fencing
// token is kept beside the value, and what carries a lower one changes nothing.
//
// A token is stale from the moment that a later holder has been there, be it to read.
package guard

import (
	"context"
	"embed"
	"fmt"
	"strings"
)

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

// Kind is one database.
type Kind struct {
	Name, Doc string
	Topology  string // that serves it
	// Statement is what refuses, as one would write it.
	Statement string
	Open      func(ctx context.Context, addr string) (Guard, error)
}

// All are the kinds there are.
func All() []Kind {
	return []Kind{
		{Name: "redis", Doc: "the fenced copy is a hash in Redis, written by a script", Topology: "redis", Statement: statement("redis.lua"), Open: openRedis},
		{Name: "mysql", Doc: "the fenced copy is a row in MySQL, written by a conditional UPDATE", Topology: "mariadb", Statement: statement("mysql.sql"), Open: openMySQL},
		{Name: "etcd", Doc: "the fenced copy is a key in etcd, written by a transaction that compares the token", Topology: "etcd", Statement: statement("etcd.txt"), Open: openEtcd},
	}
}

// Find returns the kind of that name.
func Find(name string) (Kind, error) {
	for _, k := range All() {
		if k.Name == name {
			return k, nil
		}
	}
	return Kind{}, fmt.Errorf("guard: no kind of database is called %q", name)
}

//go:embed redis.lua mysql.sql etcd.txt
var statements embed.FS

func statement(file string) string {
	text, err := statements.ReadFile(file)
	if err != nil {
		panic(err) // it is embedded
	}
	return strings.TrimSpace(string(text))
}
