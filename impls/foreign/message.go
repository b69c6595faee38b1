package foreign

import "time"

// message is one line, in either direction.
type message struct {
	N   uint64 `json:"n"`
	Do  string `json:"do,omitempty"`
	Say string `json:"say,omitempty"`
	Why string `json:"why,omitempty"`

	Client  string        `json:"client,omitempty"`
	Servers []string      `json:"servers,omitempty"`
	TTL     time.Duration `json:"ttl_ns,omitempty"`
	Lock    string        `json:"lock,omitempty"`
	Owner   string        `json:"owner,omitempty"`
	Try     bool          `json:"try,omitempty"`
	Shared  bool          `json:"shared,omitempty"`

	// Readings of CLOCK_MONOTONIC, but for Wall, in ns.
	Call  int64  `json:"call_ns,omitempty"`
	Until int64  `json:"until_ns,omitempty"`
	Mono  int64  `json:"mono_ns,omitempty"`
	Wall  int64  `json:"wall_ns,omitempty"`
	Token uint64 `json:"token,omitempty"`
	Name  string `json:"name,omitempty"` // of a step, of a session, or of the lock itself

	whole []byte // the line, where it describes the program
}

// The questions.
const (
	doDescribe = "describe"
	doOpen     = "open"
	doAcquire  = "acquire"
	doRelease  = "release"
	doValid    = "valid"
	doCancel   = "cancel"
	doClock    = "clock"
	doClose    = "close"
	doGo       = "go"
)

// The answers, and what a program says by itself.
const (
	sayOK          = "ok"
	sayHeld        = "held"
	sayNoEffect    = "no-effect"
	sayUnsupported = "unsupported"
	sayUnknown     = "unknown"
	sayLost        = "lost"
	sayReleased    = "released"

	sayRenewed = "renewed"
	sayStep    = "step"
	saySession = "session"
)

// answers are those that a question has.
var answers = map[string][]string{
	doDescribe: {sayOK},
	doOpen:     {sayOK, sayUnknown},
	doAcquire:  {sayOK, sayHeld, sayNoEffect, sayUnsupported, sayUnknown},
	doRelease:  {sayOK, sayLost, sayReleased, sayNoEffect, sayUnknown},
	doValid:    {sayOK, sayLost, sayUnknown},
	doClock:    {sayOK},
}
