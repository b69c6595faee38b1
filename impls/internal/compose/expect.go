package compose

import lb "github.com/lockbench/lockbench"

// Kleppmann is the source of what fencing tokens are for.
const Kleppmann = `M. Kleppmann, "How to do distributed locking", 2016`

const ownClaim = "the algorithm's own claim"

// Lease is what every correct lease without a token is good for, whether it is
// renewed or not: its holder can know when it is over, and nobody else can.
func Lease() []lb.Expectation {
	return []lb.Expectation{
		{Fault: "none", Outcomes: []lb.Outcome{lb.Safe}, Why: "nobody outlives the lease", Source: ownClaim},
		{Fault: "kill-holder", Outcomes: []lb.Outcome{lb.Safe}, Why: "the dead do not write, and their lease ends", Source: ownClaim},
		{Fault: "pause-holder", Outcomes: []lb.Outcome{lb.Check}, Reason: lb.Overstay,
			Why: "the frozen holder can see, after it wakes, that its lease is over", Source: Kleppmann},
		{Fault: "cut-holder", Outcomes: []lb.Outcome{lb.Check}, Reason: lb.Overstay,
			Why: "the holder's own clock tells it that its lease is over", Source: Kleppmann},
		{Fault: "pause-at:before-write", Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.Overstay,
			Why: "no look at the clock helps a holder that stops after it, and there is no token", Source: Kleppmann},
	}
}

// FencedLease is what a correct lease with a fencing token is good for.
func FencedLease() []lb.Expectation {
	return Except(Lease(), lb.Expectation{
		Fault: "pause-at:before-write", Outcomes: []lb.Outcome{lb.Fence}, Reason: lb.Overstay,
		Why: "the store has seen a higher token and refuses the late write", Source: Kleppmann,
	})
}

// Except returns the expectations with some replaced, by fault, or added.
func Except(base []lb.Expectation, others ...lb.Expectation) []lb.Expectation {
	var all []lb.Expectation
	replaced := map[string]bool{}
	for _, e := range others {
		replaced[e.Fault] = true
	}
	for _, e := range base {
		if !replaced[e.Fault] {
			all = append(all, e)
		}
	}
	return append(all, others...)
}
