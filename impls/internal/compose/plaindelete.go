package compose

import (
	"slices"

	lb "github.com/lockbench/lockbench"
)

// PlainDelete is what a release costs that does not look whose lock it is. del is what the request is called, and doc
// is who says so.
func PlainDelete(base []lb.Expectation, del, doc string) []lb.Expectation {
	late := func(why, fault string) []lb.Expectation {
		return Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant, Why: why, Source: doc}, fault)
	}
	return Except(base, slices.Concat(
		late("the late holder's "+del+" frees the lock of the next one", "pause-holder"),
		late("whoever works for longer than the lease frees the lock of the next one", "slow-work"),
		late("the second "+del+" frees the lock of the one who has it by then", "release-twice"),
		Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Broken, lb.Check},
			Why: "the late " + del + " frees the next one's lock, unless TCP delivers it while nobody holds it", Source: doc}, "cut-holder", "one-way-cut"),
		Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Broken}, Why: "late write and late " + del, Source: doc}, "pause@before-write"),
		Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Broken, lb.Check, lb.Safe},
			Why: "a " + del + " that is sent again, or arrives late, frees the lock of the next one, if somebody has it by then", Source: doc},
			"lost-grant", "late-grant", "lose-reply", "reset-grant", "reset-reply", "slow-reply", "cut-rejoin", "flapping-link", "lossy-link"),
		Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Safe, lb.Broken},
			Why: "whose request was cut off cleans up with a " + del + ", and that is perhaps the lock of another", Source: doc}, EndingConnections()...),
	)...)
}
