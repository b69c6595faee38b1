package faults

import (
	"context"
)

// SessionActs are about the sessions that clients have at the lock service.
type SessionActs interface {
	// Clients are those of all workers, as they are now.
	Clients(ctx context.Context) ([]Client, error)
	// Expire ends the sessions of clients at the lock service, as an operator would, and
	// says how many it still knew. They are not given back.
	Expire(ctx context.Context, of ...Client) (ended int, err error)
}

// Client is one of a worker's.
type Client struct {
	Worker Node
	Name   string
	// Asks is the acquisition that it waits for, "" if it waits for none.
	Asks string
	// Sessions are those that it has or had at the lock service.
	Sessions []string
}
