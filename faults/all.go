// Package faults holds what goes wrong in a run, one fault a file. A fault says
// where it can strike, strikes, heals, and measures what it did; how long it
// lasts is the runner's decision.
package faults

import (
	"slices"
	"strings"

	lb "github.com/lockbench/lockbench"
)

// All returns the faults in the order of the matrix's columns. Those that strike
// at a step stand here with the step that matters most to each; [Find] takes any.
func All() []lb.Fault {
	return []lb.Fault{
		None{},
		PauseHolder{},
		PauseClient{},
		KillHolder{},
		CutHolder{},
		CrashAt{"after-setnx"},
		PauseAt{"before-write"},
		ClientClock{},
		ClientClockDrift{},
		LostReply{},
		SlowReply{},
		CutLeader{},
		CutHalves{},
		KillLeader{},
		PauseLeader{},
		Failover{},
		FailoverUnreplicated{},
		KillTwo{},
		RestartServer{},
		RestartEmpty{},
		ServerClock{},
		ServerClockDrift{},
		CutTwoRestartEmpty(),
		CutTwoServerClock(),
	}
}

// Find returns the fault of that name, which may also be crash-at or pause-at with
// any step, or random, which is no column of the matrix because it is all of them.
func Find(name string) (lb.Fault, bool) {
	if step, ok := strings.CutPrefix(name, crashAt); ok && step != "" {
		return CrashAt{step}, true
	}
	if step, ok := strings.CutPrefix(name, pauseAt); ok && step != "" {
		return PauseAt{step}, true
	}
	if name == (Random{}).Name() {
		return Random{}, true
	}
	i := slices.IndexFunc(All(), func(f lb.Fault) bool { return f.Name() == name })
	if i < 0 {
		return nil, false
	}
	return All()[i], true
}
