package lab

import "context"

// Yardstick is what locks on a server are measured against, on one connection that is used
// for nothing else.
type Yardstick struct {
	// Floor is the cheapest round trip; Writes are those that any lock there must make: one
	// that takes and one that gives back.
	Floor, Writes func(context.Context) error
	Close         func()
}

// YardKey is what they write to: of no lock.
const YardKey = "lockbench-yard"
