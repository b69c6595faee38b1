package lab

import (
	"context"
	"fmt"
)

// Operation is something that people do to the servers of a lock service by a command,
// named as they call it.
type Operation string

// The operations. A kind of server has the [Command] of those that it knows.
const (
	FlushAll    Operation = "FLUSHALL"
	ScriptFlush Operation = "SCRIPT FLUSH"
	EvictTTL    Operation = "evict by volatile-ttl"
	EvictLRU    Operation = "evict by allkeys-lru"
	FillMemory  Operation = "fill the memory"
	IdleTimeout Operation = "close idle connections"
	Snapshot    Operation = "snapshot"
	KillSession Operation = "KILL"
	AlterTable  Operation = "ALTER TABLE"
	FailOver    Operation = "fail over"
	Compact     Operation = "compact"
	Defragment  Operation = "defrag"
	NoSpace     Operation = "alarm NOSPACE"

	SentinelReset Operation = "SENTINEL RESET"
)

// Command gives a server a command and says what that did.
type Command func(ctx context.Context, at Target) (Effect, error)

// Target is where a command goes.
type Target struct {
	Endpoint string // of the server
	// Client is the address of a client's host, for commands about one.
	Client string
}

// Effect is what a command did, as the server itself counts it.
type Effect struct {
	// Count is how much was hit, 0 for nothing, and Told says what, in words: "forgot 3 keys".
	Count int
	Told  string
	// Immune: whom it is about was there, and gave it nothing to hit. Told says so, too.
	Immune bool
	// End takes the command back and counts anew; nil where there is nothing to take back.
	End func(context.Context) (Effect, error)
}

// Knows reports whether the servers, or those that watch them, know the operation.
func (t Topology) Knows(o Operation) bool {
	return t.Kind.Commands[o] != nil || t.Sentinels > 0 && t.Watchers.Commands[o] != nil
}

// Operate gives the server the command. of is the address of a client's host, for those
// that are about one.
func (s *Server) Operate(ctx context.Context, o Operation, of string) (Effect, error) {
	command := s.kind.Commands[o]
	if command == nil {
		return Effect{}, fmt.Errorf("%s: a %s server knows no %s", s.Name(), s.kind.Name, o)
	}
	e, err := command(ctx, Target{Endpoint: s.Endpoint(), Client: of})
	if err != nil {
		return e, fmt.Errorf("%s: %s: %w", s.Name(), o, err)
	}
	return e, nil
}
