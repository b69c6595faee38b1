package faults

import (
	"context"
	"time"
)

// DiskActs are what happens to servers' disks.
type DiskActs interface {
	// FillDisk leaves no room on a server's disk. A server that ends itself because of that
	// is started again when it is healed.
	FillDisk(ctx context.Context, server Node) (*Filled, error)
	// StallDisk has a server wait for its disk. Its process runs.
	StallDisk(ctx context.Context, server Node) (*Stalled, error)
}

// Filled is a disk without room, as it was when that was over.
type Filled struct {
	// Complaints are the lines in which the server's log tells of it.
	Complaints int
	// Ended: the server has ended itself.
	Ended bool
}

// Stalled is a disk that stalls: how many writes waited for it, and for how long at most, by
// the time it was over.
type Stalled struct {
	Calls func() int
	For   func() time.Duration
}
