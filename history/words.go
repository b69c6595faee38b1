package history

import "math/bits"

// field is one field of an event, as a bit.
type field uint32

const (
	fieldT field = 1 << iota
	fieldE
	fieldOp
	fieldClient
	fieldLock
	fieldID
	fieldShared
	fieldResult
	fieldToken
	fieldUntil
	fieldCall
	fieldRequests
	fieldSent
	fieldWorker
	fieldName
	fieldPhase
	fieldTarget
	fieldFault
	fieldCount
	fieldProven
	fieldError
	fieldSeq
	fieldCopies
	fieldNote
)

// fieldNames are in the order of the bits.
var fieldNames = [...]string{"t", "e", "op", "client", "lock", "id", "shared", "result", "token", "until", "call",
	"requests", "sent", "worker", "name", "phase", "target", "fault", "count", "proven", "error", "seq", "copies", "note"}

// fieldOf is the field of that name, or 0.
func fieldOf(name []byte) field {
	switch string(name) {
	case "t":
		return fieldT
	case "e":
		return fieldE
	case "op":
		return fieldOp
	case "client":
		return fieldClient
	case "lock":
		return fieldLock
	case "id":
		return fieldID
	case "shared":
		return fieldShared
	case "result":
		return fieldResult
	case "token":
		return fieldToken
	case "until":
		return fieldUntil
	case "call":
		return fieldCall
	case "requests":
		return fieldRequests
	case "sent":
		return fieldSent
	case "worker":
		return fieldWorker
	case "name":
		return fieldName
	case "phase":
		return fieldPhase
	case "target":
		return fieldTarget
	case "fault":
		return fieldFault
	case "count":
		return fieldCount
	case "proven":
		return fieldProven
	case "error":
		return fieldError
	case "seq":
		return fieldSeq
	case "copies":
		return fieldCopies
	case "note":
		return fieldNote
	}
	return 0
}

func (f field) String() string { return fieldNames[bits.TrailingZeros32(uint32(f))] }

// needs are the fields that an event of a kind can't do without.
var needs = map[Kind]field{
	KindCall:   fieldT | fieldOp | fieldClient | fieldLock | fieldID,
	KindReturn: fieldT | fieldOp | fieldClient | fieldLock | fieldID | fieldResult,
	KindRenew:  fieldT | fieldClient | fieldLock | fieldID | fieldUntil,
	KindLost:   fieldT | fieldClient | fieldLock | fieldID,
	KindWake:   fieldT | fieldClient | fieldName,
	KindRead:   fieldT | fieldSeq | fieldClient | fieldLock | fieldID | fieldCopies,
	KindWrite:  fieldT | fieldSeq | fieldClient | fieldLock | fieldID | fieldCopies,
	KindStep:   fieldT | fieldClient | fieldID | fieldName,
	KindSilent: fieldT | fieldWorker | fieldCall,
	KindDead:   fieldT | fieldWorker,
	KindFault:  fieldT | fieldName | fieldPhase,
	KindAct:    fieldT | fieldName | fieldTarget | fieldPhase,
	KindCount:  fieldT | fieldName | fieldTarget,
	KindFailed: fieldT | fieldClient,
	KindEnd:    fieldT,
}

// The words of an event that are one of a few.
var (
	kindWords  = wordsOf(KindCall, KindReturn, KindRenew, KindLost, KindWake, KindRead, KindWrite, KindStep, KindSilent, KindDead, KindFault, KindAct, KindCount, KindFailed, KindEnd)
	opWords    = wordsOf(OpAcquire, OpRelease)
	phaseWords = wordsOf(PhaseStrike, PhaseHeal, PhaseHealed, PhaseBegin, PhaseEnd)
)

// The phases of a fault.
const (
	PhaseStrike = "strike"
	PhaseHeal   = "heal"
	PhaseHealed = "healed"
)

// ActFreeze is the name of an act that stops a process where it is; the target is the
// process, or a client in it.
const ActFreeze = "freeze"

// The phases of an act.
const (
	PhaseBegin = "begin"
	PhaseEnd   = "end"
)

func wordsOf[T ~string](words ...T) map[string]T {
	m := map[string]T{}
	for _, w := range words {
		m[string(w)] = w
	}
	return m
}
