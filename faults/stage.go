package faults

import (
	"context"
	"math/rand/v2"
	"time"
)

// Strike is one strike of a fault on the stage.
type Strike struct {
	Stage
	Fault
}

// Step is the step at which it strikes a client.
func (s Strike) Step() string { return s.Fault.Step(s.Setting()) }

// standing says where a client was that was stopped: whether it held the lock there is for the
// history to say.
func (s Strike) standing(v *Victim) string { return v.Client + " stood at " + s.Step() }

// Stage is a run in progress, as far as faults may touch it. Every act on it records
// when it begins and when it has ended, and what it changed is undone when the fault is
// healed, if the fault has not done so itself: first the victims are let go, then the
// last act is undone first. The acts are split by what they strike, in the files
// stage_*.go; a helper that needs only one part takes that one.
type Stage interface {
	Setting() Setting
	TTL() time.Duration
	Rand() *rand.Rand
	// Sleep lets time pass.
	Sleep(ctx context.Context, d time.Duration) error

	Scene
	ClientActs
	RepeatActs
	SessionActs
	ServerActs
	OperatorActs
	NetworkActs
	ClockActs
	DiskActs
}

// Scene is who takes part in the run.
type Scene interface {
	// Servers are the processes of the lock service, Sentinels those that watch them,
	// Workers the processes that the clients live in, one of each host.
	Servers() []Node
	Sentinels() []Node
	Workers() []Node
	// Leader is the server that leads the others now, as they themselves say; except,
	// if not nil, is not asked.
	Leader(ctx context.Context, except Node) (Node, error)
	// Followers are the servers that copy what the leader has.
	Followers(ctx context.Context, leader Node) ([]Node, error)
}

// Node is a process of the run on its host.
type Node interface{ Name() string }
