package postgres

import "github.com/lockbench/lockbench/internal/wire"

// enough is how much of an answer is awaited until it is known whether the request failed: what goes on is
// the result of one that did not.
const enough = 64 << 10

// answerLength is that of an answer to the message that decides whether its request has failed, so that nobody
// has heard of it before. What answers nothing, and what follows, are messages by themselves.
func (p *protocol) answerLength(unread []byte) int {
	for at := 0; ; {
		n := span(unread[at:], fromServer)
		switch {
		case n == wire.Nonsense && at > 0:
			return at
		case n == wire.Nonsense, at+n > len(unread):
			return max(n, at+n)
		case at == 0 && (unsolicited(unread[0]) || !p.waits()), p.decides(unread[at]), at+n >= enough:
			return at + n
		}
		at += n
	}
}

// unsolicited reports whether a message may come at any time, and answers nothing.
func unsolicited(kind byte) bool {
	return kind == notice || kind == parameterStatus || kind == notification
}

// waits reports whether the server is to say whether a request has failed.
func (p *protocol) waits() bool { return len(p.asked) > 0 && p.asked[0].name != "" && !p.asked[0].told }

// decides reports whether a message says whether the request has failed. Only when the server is ready for
// another is that known for certain: it commits behind the last statement. But where the client has not said
// yet that this was the last, it waits for what is complete; and where there is data to send it waits for that.
func (p *protocol) decides(kind byte) bool {
	switch kind {
	case errorResponse, readyForQuery, copyIn, copyOut, copyBoth:
		return true
	case commandComplete, emptyQueryResponse, portalSuspends:
		return len(p.asked) > 0 && !p.asked[0].whole
	}
	return false
}

// answer reads one, or a message by itself.
func (p *protocol) answer(m []byte) (notes []wire.Message) {
	tell := func(failed bool) {
		if p.waits() {
			r := p.asked[0]
			r.told = true
			notes = append(notes, wire.Message{Request: r.name, Failed: failed, KeepsAlive: r.name == ping})
		}
	}
	each(m, func(kind byte, _ []byte) {
		if p.decides(kind) {
			tell(kind == errorResponse)
		}
		switch {
		case len(p.asked) == 0:
		case kind == copyIn && p.asked[0].again:
			p.copies = true
		case kind == readyForQuery:
			p.asked = p.asked[1:]
		}
	})
	if len(m) >= enough && !unsolicited(m[0]) {
		tell(false)
	}
	return notes
}
