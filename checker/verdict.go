package checker

import (
	"cmp"
	"encoding/json"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// Verdict is what one layer of the checkers found.
type Verdict string

// The verdicts. Undecided is never read as Valid.
const (
	Valid     Verdict = "valid"
	Invalid   Verdict = "invalid"
	Undecided Verdict = "undecided"
	Vacuous   Verdict = "vacuous"
)

// Layer is the result of one checker.
type Layer struct {
	Name    string  `json:"name"`
	Verdict Verdict `json:"verdict"`
	// Summary says in one line what was looked at and what came out.
	Summary  string    `json:"summary"`
	Findings []Finding `json:"findings,omitempty"`
	// Count is the number of findings, of which Findings holds the first few.
	Count int `json:"count"`
}

// Finding is one violation, with the acquisitions that prove it.
type Finding struct {
	Layer string `json:"layer"`
	// Mechanism is DoubleGrant, Overstay or another of the mechanisms, or "" where the
	// layer alone can't tell.
	Mechanism string `json:"mechanism,omitempty"`
	// Lock names the lock that the acquisitions are of.
	Lock string `json:"lock,omitempty"`
	// Sentence tells it in plain words.
	Sentence string `json:"sentence"`
	// At is when it became visible; From and To span what should be drawn.
	At   lb.Instant `json:"t"`
	From lb.Instant `json:"from"`
	To   lb.Instant `json:"to"`
	// IDs are the acquisitions involved, in the order of their grants.
	IDs []string `json:"ids"`
	// Circle is who waits for whom in a deadlock: each for the next, the last for the
	// first.
	Circle []Wait `json:"circle,omitempty"`
	// Confirmed: porcupine agreed on the operations of the finding.
	Confirmed bool `json:"confirmed"`

	// starved says why the machine is to blame, and not the lock.
	starved string
}

// Wait is one client that waits for a lock which another holds.
type Wait struct {
	Client string `json:"client"`
	Lock   string `json:"lock"`
	Holder string `json:"holder"`
}

// Copy is how one copy of the protected store fared.
type Copy struct {
	Writes  int `json:"writes"`  // landed
	Lost    int `json:"lost"`    // of what was added, how much the final value does not show
	Stale   int `json:"stale"`   // landed writes, and reads relied on, whose base was no longer the current value
	Refused int `json:"refused"` // by token
	Skipped int `json:"skipped"` // by the client's own look at its lease
	// Crowded is, of a semaphore, how often somebody was at work beside as many as it has permits.
	Crowded int `json:"crowded,omitempty"`
}

// Hurt reports whether the copy went wrong.
func (c Copy) Hurt() bool { return c.Lost != 0 || c.Stale != 0 || c.Crowded != 0 }

// Cell is one algorithm under one fault: the JSON contract of run and matrix.
type Cell struct {
	Algorithm string `json:"algorithm"`
	Fault     string `json:"fault"`
	// Group is the title above the algorithm's row, "" for one that is among the others, or by a lockbench
	// that did not say so.
	Group string `json:"group,omitempty"`
	// Family is what the fault strikes, "" where nothing was run, or by a lockbench that did not say so.
	Family history.Family `json:"family,omitempty"`
	// Servers tell it from other cells of the same algorithm and fault, such as
	// "etcd 3.4.23"; "" where there are none.
	Servers string     `json:"servers,omitempty"`
	Outcome lb.Outcome `json:"outcome"`
	// Mechanism is how somebody was hurt, "" where nobody was or nothing says how.
	Mechanism string `json:"mechanism,omitempty"`
	// Reason says it in a sentence, for people.
	Reason string `json:"reason"`
	Runs   int    `json:"runs"`
	// Unproven: in none of the runs did the fault have an effect that was measured.
	Unproven bool `json:"unproven,omitempty"`
	// Planned is how many runs it was to have, where those are fewer than the matrix says:
	// in a shard.
	Planned int `json:"planned_runs,omitempty"`
	// Violations is the number of runs in which some copy was hurt, a grant was
	// illegal, or the lock stayed stuck.
	Violations int `json:"violations"`
	// Share is how sure that is, nil where nothing was run.
	Share *Share `json:"share,omitempty"`
	// Outcomes is how many of the runs had each outcome, nil where nothing was run, or by a lockbench that did not say so.
	Outcomes map[lb.Outcome]int `json:"outcomes,omitempty"`
	// Sections that were completed inside the lock, over all runs.
	Sections int             `json:"sections"`
	Copies   map[string]Copy `json:"copies"`
	// OutageMS is the longest time that nobody could get the lock (the largest
	// of the runs), FirstViolationMS the earliest violation since a run's start;
	// -1 where there was none.
	OutageMS         float64 `json:"outage_ms"`
	FirstViolationMS float64 `json:"first_violation_ms"`
	Effect           string  `json:"effect"`
	Seed             uint64  `json:"seed"`
	Dir              string  `json:"dir"`
	// Promise says whether the outcome agrees with what the algorithm declares: one of
	// the promises below, or "" where nothing was declared.
	Promise string `json:"promise,omitempty"`
	// Expected explains the promise.
	Expected string `json:"expected,omitempty"`
	// Inconclusive is how many of the runs proved nothing, Failed how many of those because
	// the bench came to no end with them.
	Inconclusive int `json:"inconclusive,omitempty"`
	Failed       int `json:"failed,omitempty"`
	// Outage and Claims are those of the runs, see [Result]: the outage of the longest, and
	// each claim once.
	Outage string   `json:"outage,omitempty"`
	Claims []Unkept `json:"claims,omitempty"`
	// StalledMS is the longest of the runs, see [Result], and TookMS the sum.
	StalledMS float64 `json:"stalled_ms,omitempty"`
	TookMS    float64 `json:"took_ms,omitempty"`
	// ClockErrorMS is the most of the runs, see [Result], and IfEven how many of them have one.
	ClockErrorMS float64 `json:"clock_error_ms,omitempty"`
	IfEven       int     `json:"if_even,omitempty"`
}

// Row names the cell's algorithm, with the servers where the cell names them.
func (c *Cell) Row() string {
	if c.Servers == "" {
		return c.Algorithm
	}
	return c.Algorithm + " (" + c.Servers + ")"
}

// named is the mechanism that leads a reason: files from before mechanisms had a field of their
// own have them there only.
func named(o lb.Outcome, reason string) string {
	for _, m := range lb.Mechanisms() {
		if o.Hurtful() && strings.HasPrefix(reason, m+":") {
			return m
		}
	}
	return ""
}

// UnmarshalJSON implements [json.Unmarshaler].
func (c *Cell) UnmarshalJSON(text []byte) error {
	type plain Cell
	err := json.Unmarshal(text, (*plain)(c))
	c.Mechanism = cmp.Or(c.Mechanism, named(c.Outcome, c.Reason))
	return err
}

// UnmarshalJSON implements [json.Unmarshaler].
func (r *Result) UnmarshalJSON(text []byte) error {
	type plain Result
	err := json.Unmarshal(text, (*plain)(r))
	r.Mechanism = cmp.Or(r.Mechanism, named(r.Outcome, r.Reason))
	return err
}

// What became of what an algorithm declares.
const (
	PromiseKept   = "kept"
	PromiseBroken = "broken"
	PromiseOpen   = "open" // the runs proved nothing
)

// Result is results.json of one run: what the checkers made of its history.
type Result struct {
	Schema           int             `json:"schema"`
	Plan             history.Plan    `json:"plan"`
	Outcome          lb.Outcome      `json:"outcome"`
	Mechanism        string          `json:"mechanism,omitempty"` // see [Cell]
	Reason           string          `json:"reason"`
	Layers           []Layer         `json:"layers"`
	Copies           map[string]Copy `json:"copies"`
	Sections         int             `json:"sections"`
	Contended        int             `json:"contended"`
	OutageMS         float64         `json:"outage_ms"`
	FirstViolationMS float64         `json:"first_violation_ms"`
	Effect           history.Proof   `json:"effect"`
	// Outage tells of the longest time that nobody got a lock which nobody relied on, if
	// it was longer than a lease.
	Outage string `json:"outage,omitempty"`
	// Failed: the bench came to no end with the run.
	Failed bool `json:"failed,omitempty"`
	// StalledMS is the longest time that the machine, and no fault, let a process of the
	// bench stand still; 0 if none did for long enough to be noticed.
	StalledMS float64 `json:"stalled_ms,omitempty"`
	// TookMS is the time from the first event to the last; 0 where nobody recorded any.
	TookMS float64 `json:"took_ms,omitempty"`
	// ClockErrorMS is how wrong the times of a recorder with a clock of its own may be at most,
	// either way. IfEven is the outcome if clocks ran evenly while they were not compared, where that is another
	// one.
	ClockErrorMS float64    `json:"clock_error_ms,omitempty"`
	IfEven       lb.Outcome `json:"if_even,omitempty"`
	// Starved says why the machine is to blame for the harm that was seen, and not the lock.
	Starved string `json:"starved,omitempty"`
	// Claims are what the algorithm claims and did not keep, beside the outcome.
	Claims []Unkept `json:"claims,omitempty"`
	// Notes are what a reader should know about the recording itself.
	Notes []string `json:"notes,omitempty"`
}
