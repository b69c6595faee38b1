package explore

import (
	"fmt"
	"slices"
	"strings"
)

// Kind says what a move is.
type Kind string

// The moves. Those from Expires on are what goes wrong: faults.
const (
	Sends   Kind = "sends"    // a request, which the server answers
	Hears   Kind = "hears"    // the answer, as a move of its own
	Reads   Kind = "reads"    // from the store
	Works   Kind = "works"    // looks at the lease, and writes to the store
	Wakes   Kind = "wakes"    // a wait for the server is over, by time
	Expires Kind = "expires"  // every lease ends, or the session of the client
	Ended   Kind = "is ended" // the session of the client, which waits, by somebody else: no time passes
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
func (m Move) Fault() bool { return m.Do == Expires || m.Do == Ended || m.Do == Dies || m.Do == Loses }

func (m Move) String() string {
	return strings.Join(slices.DeleteFunc([]string{m.Client, string(m.Do), m.What}, func(s string) bool { return s == "" }), " ")
}

// Sentence tells it to people.
func (m Move) Sentence() string {
	switch m.Do {
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

// Requests that touch nothing but the session of who sends them, and those that change nothing
// that another's answer depends on, by the names that the locks give them. Whatever is not here
// may change the lock.
var (
	private = []string{"ping", "identify", "keep-alive"}
	reads   = []string{"get", "look", "read", "find", "find-connection", "select", "children", "exists", "sync", "watch", "unwatch", "subscribe", "unsubscribe"}
)

// request is its name alone.
func (m Move) request() string {
	name, _, _ := strings.Cut(strings.TrimPrefix(m.What, renewals), toServer)
	name, _, _ = strings.Cut(name, ofKey)
	return name
}

// is reports whether the move is one of these requests.
func (m Move) is(names []string) bool {
	return slices.Contains(names, m.request())
}

// changes reports whether the move is a request that may change the lock.
func (m Move) changes() bool { return m.asks() && !m.is(private) && !m.is(reads) }

// What a request is said to be for and where it goes, beside its name.
const (
	renewals = "renewal's "
	toServer = " to server "
	ofKey    = " of key "
)

// rules say which moves have to do with each other.
type rules struct {
	// tied: the server ends something with a client's connection, or session.
	tied bool
}

// depend reports whether the sequence of the two can make a difference.
func (r rules) depend(a, b Move) bool {
	either := func(of func(Move) bool) bool { return of(a) || of(b) }
	switch {
	case a.Client == b.Client && a.Client != "", either(func(m Move) bool { return m.Do == Expires }), a.Fault() && b.Fault():
		return true
	case either(func(m Move) bool { return m.Do == Dies || m.Do == Ended }):
		return r.tied && either(func(m Move) bool { return m.asks() && !m.is(private) || m.Do == Wakes })
	case either(func(m Move) bool { return m.asks() && m.is(private) }):
		return false
	case either(func(m Move) bool { return m.Do == Wakes }):
		return either(Move.asks)
	}
	changes := func(m Move) bool { return m.changes() || r.tied && m.Do == Loses } // its connections end
	return a.asks() && b.asks() && either(changes) || a.stores() && b.stores()
}

func (m Move) stores() bool { return m.Do == Reads || m.Do == Works }

func (m Move) asks() bool { return m.Do == Sends || m.Do == Loses }

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
