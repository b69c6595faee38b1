package postgres

import (
	"bytes"

	"github.com/lockbench/lockbench/backends/internal/sqlserver"
	"github.com/lockbench/lockbench/internal/wire"
)

// Verbs of statements that are special, and requests without one.
const setsVariable, begins, prepare, asksOfTypes = "set", "begin", "prepare", "describe"

// roundTripLength is that of the steps to the one that has the server answer: for the end of a round trip, or
// for what it has so far. What is no step is a message by itself, and ends what was before it.
func (p *protocol) roundTripLength(unread []byte) int {
	for at := 0; ; {
		n := span(unread[at:], steps+ends)
		switch {
		case n == wire.Nonsense && at > 0:
			return at
		case n == wire.Nonsense:
			return span(unread, fromClient)
		case at+n > len(unread), unread[at] == syncs, unread[at] == flush:
			return at + n
		}
		at += n
	}
}

// roundTrip is what a client sends until it says that the server may answer: one request, named by the first
// statement in it that is executed, but for one that only begins a transaction.
type roundTrip struct {
	name             string
	executes         bool
	prepares, asksOf bool
	request          *request // nil as long as it is not plain which
}

// verbs are what statements do, by the names that they were prepared with, and portals, in which they are
// executed.
type verbs struct{ statements, portals map[string]string }

// of are those of what is described or closed, and its name.
func (v verbs) of(content []byte) (map[string]string, string) {
	kind, name := content[:min(1, len(content))], content[min(1, len(content)):]
	which, _ := text(name)
	if string(kind) == "S" {
		return v.statements, which
	}
	return v.portals, which
}

// ask reads a message by itself, or the steps of a round trip.
func (p *protocol) ask(m []byte) (notes []wire.Message) {
	each(m, func(kind byte, content []byte) {
		switch kind {
		case simpleQuery:
			statement, _ := text(content)
			notes = append(notes, p.sent(&request{name: named(verb(statement)), whole: true})...)
		case functionCall:
			notes = append(notes, p.sent(&request{name: "function-call", whole: true})...)
		case syncs:
			notes = append(notes, p.end()...)
		default:
			p.step(kind, content)
		}
	})
	if p.open.executes && p.open.request == nil && p.open.name != "" { // the server begins before the end has come
		p.open.request = &request{name: p.open.name}
		notes = append(notes, p.sent(p.open.request)...)
	}
	return notes
}

// step notes what a step says of its round trip.
func (p *protocol) step(kind byte, content []byte) {
	first, rest := text(content)
	switch kind {
	case parse: // the name of the statement, and itself
		statement, _ := text(rest)
		v := verb(statement)
		p.verbs.statements[first] = v
		p.open.prepares = p.open.prepares || v != setsVariable
	case bind: // names of the portal and of the statement
		name, _ := text(rest)
		p.verbs.portals[first] = p.verbs.statements[name]
	case execute: // the portal's name
		p.open.executes = true
		v, known := p.verbs.portals[first]
		if !known || v == "" {
			v = "execute" // what was prepared by a statement
		}
		if v = named(v); p.open.name == "" || p.open.name == begins && v != "" {
			p.open.name = v
		}
	case describe:
		if of, name := p.verbs.of(content); of[name] != setsVariable {
			p.open.asksOf = true
		}
	case closes:
		of, name := p.verbs.of(content)
		delete(of, name)
	}
}

// end is that of a round trip.
func (p *protocol) end() []wire.Message {
	o, copied := p.open, p.copies
	p.open, p.copies = roundTrip{}, false
	switch {
	case copied && o == roundTrip{}: // it has ended before, and the server did not listen
		return nil
	case o.request != nil:
		o.request.whole = true
		return nil
	case o.executes:
	case o.prepares:
		o.name = prepare
	case o.asksOf:
		o.name = asksOfTypes
	}
	return p.sent(&request{name: o.name, whole: true, again: o.executes})
}

// sent is what there is to say of a request that leaves.
func (p *protocol) sent(r *request) []wire.Message {
	p.asked = append(p.asked, r)
	if r.name == "" {
		return nil
	}
	return []wire.Message{{Request: r.name, KeepsAlive: r.name == ping}}
}

func verb(statement string) string {
	if sqlserver.Blank(statement) {
		return ping
	}
	return sqlserver.Verb(statement)
}

// named is the request that does so, "" where that is none.
func named(verb string) string {
	if verb == setsVariable {
		return ""
	}
	return verb
}

// text is the one at the beginning, which ends with a zero, and what follows.
func text(b []byte) (string, []byte) {
	text, rest, _ := bytes.Cut(b, []byte{0})
	return string(text), rest
}
