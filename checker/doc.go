// Package checker judges histories: pure functions, a history in, a result out.
//
// [Check] runs the layers over one run, each reported apart and never merged:
//
//   - grant: was each acquisition legal for a lock with owners, given leases?
//
//   - belief: did two clients believe at once that they hold the lock?
//
//   - overstay: did a client go on working beyond its validity?
//
//   - token: are fencing tokens unique and increasing in real time?
//
//   - store: which updates were lost in each copy of the protected store, and why?
//
//   - progress: could the lock be had again, and how long could it not?
//
//   - order: how fair was it? (measured, never a violation)
//
//   - fair, told, leased: what the algorithm claims beside, where it does
//
//   - answers: whether acquires fail while no fault is in force
//
//   - workload: the workload's own judgement, where it has one
//
// and derives what it takes to be safe there. [Merge] makes one cell of the runs of an
// algorithm under a fault, and compares with what was promised.
//
// The checker reads no histories from files, knows no servers and no algorithms, and
// never guesses: what it can't decide, for want of time or memory too, it calls
// undecided, with the reason. [Online] watches a run for the obvious violation while
// it goes on.
package checker
