package lockbench

import "slices"

// Outcome is a cell of the matrix: what it takes to be safe there.
type Outcome string

// The cells, from best to worst. ARCHITECTURE.md says how a run becomes one.
const (
	Safe         Outcome = "SAFE"         // even the plain copy was right
	Check        Outcome = "CHECK"        // a look at the lease before each write was needed, and enough
	Fence        Outcome = "FENCE"        // only the token-checking store stayed right
	Stuck        Outcome = "STUCK"        // whoever waited could not get the lock, for good or for too long, though no fault kept them from it
	Broken       Outcome = "BROKEN"       // by its answers more held the lock at once than may, or every copy that the algorithm can offer was hurt
	Inconclusive Outcome = "INCONCLUSIVE" // the run proves nothing; the reason says why
	NotAvailable Outcome = "n/a"          // the fault has no meaning here; the reason says why
)

// Outcomes are those that say something of the lock, from best to worst. The others prove nothing, or have no meaning.
func Outcomes() []Outcome { return []Outcome{Safe, Check, Fence, Stuck, Broken} }

// WorstFirst are the same, from worst to best.
func WorstFirst() []Outcome { return []Outcome{Broken, Stuck, Fence, Check, Safe} }

// Decided reports whether it is one of those.
func (o Outcome) Decided() bool { return slices.Contains(Outcomes(), o) }

// Hurtful reports whether it says that somebody was hurt, or could get no lock.
func (o Outcome) Hurtful() bool { return o.Decided() && o != Safe }

// Gravity orders the outcomes of several runs, of which the gravest decides: that a run proved nothing is graver than that it saw no
// harm, and harm is graver than both. It is 0 for [NotAvailable].
func (o Outcome) Gravity() int {
	return slices.Index([]Outcome{NotAvailable, Safe, Inconclusive, Check, Fence, Stuck, Broken}, o)
}

// Cares are the outcomes of what is safe with so much care, from best to worst.
func Cares() []Outcome { return []Outcome{Safe, Check, Fence} }

// UpTo are the cares that are not worse than one of them; nil if it is none.
func UpTo(care Outcome) []Outcome {
	all := Cares()
	return all[:slices.Index(all, care)+1]
}

// The mechanisms by which a lock's user is hurt.
const (
	DoubleGrant   = "double grant"   // by the answers of the lock more clients held it at once than may
	VanishedGrant = "vanished grant" // the lock service dropped a grant before its lease ended; nobody else was seen to get it
	Overstay      = "overstay"       // a holder went on after its lease had ended
	EarlyRelease  = "early release"  // a holder went on after it had given the lock back itself
	Ghost         = "ghost"          // a lock that nobody uses stays taken
	Deadlock      = "deadlock"       // holders wait for each other's locks in a circle, or one for what it holds itself
)

// Mechanisms are all of them, those of the lock itself first.
func Mechanisms() []string {
	return []string{DoubleGrant, VanishedGrant, Overstay, EarlyRelease, Ghost, Deadlock}
}
