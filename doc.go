// Package lockbench is the vocabulary of the lock test bench: what a lock
// algorithm, a fault, a workload, a history and a verdict are.
//
// It needs nothing but the standard library and imports no other package of
// this module, so that a team can import it, write an [Impl] for its own lock
// and put that under the same faults and the same checkers as the published
// ones. The other packages are built on it, in the direction the data flows:
// impls (the locks), workloads (what is done inside them), faults (what goes
// wrong meanwhile), checker (what the history proves) and reports (what people
// read).
package lockbench
