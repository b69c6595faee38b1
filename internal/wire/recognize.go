package wire

import "strings"

// recognize tells a protocol by the first bytes of who speaks first; nil while there are
// too few.
func recognize(who side, first []byte) protocol {
	if who == server {
		return greeting(first)
	}
	switch {
	case len(first) == 0:
		return nil
	case first[0] == '*':
		return &redis{}
	case strings.HasPrefix(preface, string(first[:min(len(first), 4)])):
		if len(first) < 4 {
			return nil
		}
		return newHTTP2()
	case first[0] == 0 && len(first) == 1:
		return nil
	case first[0] == 0 && first[1] == 0:
		return &zooKeeper{}
	}
	return &other{}
}

// greeting recognizes a server that does not wait for its client: MySQL's, and one of
// HTTP/2 that sends its settings at once.
func greeting(first []byte) protocol {
	const version, refusal = 10, errPacket
	switch {
	case len(first) < 5:
		return nil
	case first[3] == 0 && (first[4] == version || first[4] == refusal):
		return &mysql{}
	case first[0] == 0 && first[3] == frameSettings:
		return newHTTP2()
	}
	return &other{}
}

// raw is a connection that can't be read any more.
type raw struct{}

func (raw) length(_ side, unread []byte) int { return min(len(unread), longest) }

func (r raw) read(side, []byte) ([]Message, protocol) { return nil, r }

// other is any protocol that takes turns: what follows an answer is a new request.
type other struct {
	raw
	asked bool
}

func (o *other) read(who side, _ []byte) ([]Message, protocol) {
	if o.asked == (who == client) {
		return nil, o
	}
	o.asked = !o.asked
	return []Message{{Request: "request"}}, o
}
