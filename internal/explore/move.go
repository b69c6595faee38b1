package explore

import (
	"fmt"
	"slices"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/wire"
)

// Kind says what a move is.
type Kind string

// The moves. Those from Expires on are what goes wrong: faults.
const (
	Calls   Kind = "calls"    // begins to acquire, to try once more, to release or to renew: looks at its clock
	Pauses  Kind = "pauses"   // calls, and stands still before anything leaves, while time passes
	Sends   Kind = "sends"    // a request, which the server answers
	Hears   Kind = "hears"    // the answer, as a move of its own
	Reads   Kind = "reads"    // from the store
	Works   Kind = "works"    // looks at the lease, and writes to the store
	Wakes   Kind = "wakes"    // a wait for the server is over, by time
	Expires Kind = "expires"  // every lease ends, or the session of the client
	Ended   Kind = "is ended" // the session of the client, which waits, by somebody else: no time passes
	Quits   Kind = "gives up" // its caller asks no more for the lock, and says so
	Dies    Kind = "dies"
	Loses   Kind = "loses" // a request, of which the answer is lost with its connection
)

// Move is what the scheduler lets happen.
type Move struct {
	// Client is whose it is, "" for all.
	Client string `json:"client,omitempty"`
	Do     Kind   `json:"do"`
	// What names the request, with who sends it and to which server, where that is not plain.
	What string `json:"what,omitempty"`
}

// Fault reports whether the move is something that goes wrong.
func (m Move) Fault() bool {
	return slices.ContainsFunc(wrongs, func(w wrong) bool { return w.do == m.Do })
}

func (m Move) String() string {
	return strings.Join(slices.DeleteFunc([]string{m.Client, string(m.Do), m.What}, func(s string) bool { return s == "" }), " ")
}

// Sentence tells it to people.
func (m Move) Sentence() string {
	switch m.Do {
	case Calls:
		return fmt.Sprintf("%s begins to %s", m.Client, m.What)
	case Pauses:
		return fmt.Sprintf("%s begins to %s, and stops", m.Client, m.What)
	case Sends:
		return fmt.Sprintf("%s sends %s", m.Client, m.What)
	case Hears:
		return fmt.Sprintf("%s hears the answer to its %s", m.Client, m.What)
	case Reads:
		return fmt.Sprintf("%s reads from the store", m.Client)
	case Works:
		return fmt.Sprintf("%s looks at its lease, and writes to the store", m.Client)
	case Wakes:
		return fmt.Sprintf("%s has waited long enough for %s", m.Client, m.What)
	case Ended:
		return fmt.Sprintf("%s waits, and somebody ends its session", m.Client)
	case Quits:
		return fmt.Sprintf("%s gives up, and asks no more for the lock", m.Client)
	case Dies:
		return fmt.Sprintf("%s dies", m.Client)
	case Loses:
		return fmt.Sprintf("%s sends %s, and the answer is lost with its connection", m.Client, m.What)
	}
	if m.Client != "" {
		return fmt.Sprintf("a lease's time passes in which nobody runs, and the server ends the session of %s", m.Client)
	}
	return "a lease's time passes in which nobody runs, on every clock"
}

// request is its name alone.
func (m Move) request() string {
	name, _, _ := strings.Cut(strings.TrimPrefix(m.What, renewals), toServer)
	name, _, _ = strings.Cut(name, ofKey)
	return name
}

// What a request is said to be for and where it goes, beside its name.
const (
	renewals = "renewal's "
	toServer = " to server "
	ofKey    = " of key "
)

// rules say which moves have to do with each other, by what the lock says of its requests.
type rules struct {
	// reads change nothing that an answer to another client depends on, and own touch nothing but the
	// session of the client that sends them.
	reads, own []string
	// onKeys are those of which nobody else can tell where the servers count no change; nil for all.
	onKeys []string
	// told: a holder may learn that its lock is gone by what another client does.
	told bool
	// all: everything has to do with everything, which leaves nothing out.
	all bool
	// calls may come at any time before what they lead to.
	calls bool
}

// rulesOf are those of a lock on servers that speak l. What a program says of its requests nobody can look
// up, so that only those are left out that the protocol itself makes reads.
func rulesOf(info lb.Info, l wire.Language) rules {
	r := rules{reads: info.Reads, own: info.Own, told: info.Traits.LostNotice}
	if info.Program {
		r.reads, r.own, r.onKeys = l.Reads, l.KeepAlives, append([]string{}, l.OnKeys...) // none where the language has none
	}
	return r
}

// isOwn, onlyReads and changes say what a request is.
func (r rules) isOwn(m Move) bool     { return m.asks() && slices.Contains(r.own, m.request()) }
func (r rules) onlyReads(m Move) bool { return m.Do == Sends && slices.Contains(r.reads, m.request()) }
func (r rules) changes(m Move) bool   { return m.asks() && !r.isOwn(m) && !r.onlyReads(m) }

// counts reports whether a request that may change something is nothing to others where the servers count no
// change.
func (r rules) counts(m Move) bool {
	return m.Do == Sends && r.changes(m) && (r.onKeys == nil || slices.Contains(r.onKeys, m.request()))
}

// depend reports whether the sequence of the two can make a difference.
func (r rules) depend(a, b Move) bool {
	either := func(of func(Move) bool) bool { return of(a) || of(b) }
	both := func(of func(Move) bool) bool { return of(a) && of(b) }
	switch {
	case r.all, a.Client == b.Client && a.Client != "", either(func(m Move) bool { return m.Do == Expires || m.Do == Pauses }), both(Move.Fault):
		return true
	case either(r.isOwn):
		return false
	case both(Move.stores):
		return true
	case either(func(m Move) bool { return m.Do == Hears || m.stores() }): // and who may be told in between that its lock is gone
		return r.told && either(r.tells)
	}
	return !both(r.onlyReads)
}

// tells reports whether a holder may be told that its lock is gone by what the move does, or by what comes
// right after it.
func (r rules) tells(m Move) bool { return r.changes(m) || m.ends() || m.Do == Calls }

// stores reports whether the move is with the store.
func (m Move) stores() bool { return m.Do == Reads || m.Do == Works }

// asks reports whether it is a request.
func (m Move) asks() bool { return m.Do == Sends || m.Do == Loses }

// ends reports whether a connection or a session ends with it, which a server may tell others.
func (m Move) ends() bool { return m.Do == Dies || m.Do == Ended || m.Do == Loses }

// normal is the form that all orders have in common which only swap moves that do not depend on
// each other: of those that may come next, the first by name.
func (r rules) normal(moves []Move) []Move {
	rest, form := slices.Clone(moves), make([]Move, 0, len(moves))
	for len(rest) > 0 {
		next := -1
		for i := range rest {
			free := !slices.ContainsFunc(rest[:i], func(before Move) bool { return r.depend(before, rest[i]) })
			if free && (next < 0 || rest[i].String() < rest[next].String()) {
				next = i
			}
		}
		form = append(form, rest[next])
		rest = slices.Delete(rest, next, next+1)
	}
	return form
}
