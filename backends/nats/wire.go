package nats

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/lockbench/lockbench/internal/wire"
)

// Language is what NATS speaks: lines, of which some have a message behind them. A request is a message with an address
// for its answer, which comes as a message there.
var Language = wire.Language{
	Name: "nats", Begin: func() wire.Protocol { return &protocol{asked: map[string]string{}} },
	Reads: []string{get, watch, unwatch},
}

const put, get, del, watch, unwatch = "put", "get", "delete", "watch", "unwatch"

type protocol struct {
	asked map[string]string // requests by where their answers go
}

const longestLine = 64 << 10

func (p *protocol) Length(who wire.Side, unread []byte) int {
	end := bytes.IndexByte(unread, '\n')
	if end < 0 {
		word, _, whole := strings.Cut(string(unread[:min(len(unread), longestWord+1)]), " ")
		if len(unread) > longestLine || !begins(who, strings.TrimSpace(word), whole) {
			return wire.Nonsense
		}
		return 0
	}
	line := strings.Fields(string(unread[:end]))
	if len(line) == 0 || !begins(who, line[0], true) {
		return wire.Nonsense
	}
	if !carries(line[0]) {
		return end + 1
	}
	size, err := strconv.Atoi(line[len(line)-1])
	if err != nil || size < 0 || size > wire.Longest {
		return wire.Nonsense
	}
	return end + 1 + size + len("\r\n")
}

const longestWord = len("CONNECT")

var words = [2][]string{
	wire.Client: {"CONNECT", "PUB", "HPUB", "SUB", "UNSUB", "PING", "PONG"},
	wire.Server: {"INFO", "MSG", "HMSG", "PING", "PONG", "+OK", "-ERR"},
}

// begins reports whether a line of that side can begin with the word, which has perhaps not come whole.
func begins(who wire.Side, word string, whole bool) bool {
	for _, w := range words[who] {
		if strings.EqualFold(w, word) || !whole && len(word) < len(w) && strings.EqualFold(w[:len(word)], word) {
			return true
		}
	}
	return false
}

// carries reports whether a message follows.
func carries(word string) bool {
	switch strings.ToUpper(word) {
	case "PUB", "HPUB", "MSG", "HMSG":
		return true
	}
	return false
}

func (p *protocol) Read(who wire.Side, message []byte) ([]wire.Message, wire.Protocol) {
	line, rest, _ := bytes.Cut(message, []byte("\n"))
	f := strings.Fields(string(line))
	if !carries(f[0]) {
		return nil, p
	}
	m, ok := carried(f, rest)
	if !ok {
		return nil, wire.Raw{}
	}
	if who == wire.Server {
		name, asked := p.asked[m.subject]
		if !asked {
			return nil, p
		}
		delete(p.asked, m.subject)
		return []wire.Message{{Request: name, Failed: m.refuses()}}, p
	}
	name := m.request()
	if name == "" {
		return nil, p
	}
	if m.reply != "" {
		p.asked[m.reply] = name
	}
	return []wire.Message{{Request: name}}, p
}

type carriedMessage struct {
	subject, reply string
	header, data   []byte
}

// carried takes a line with its message apart. Of a line of the server the second word is a number of the client's.
func carried(f []string, rest []byte) (m carriedMessage, ok bool) {
	word, f := strings.ToUpper(f[0]), f[1:]
	sizes := 1
	if word[0] == 'H' {
		sizes = 2
	}
	numbers := sizes
	if strings.HasSuffix(word, "MSG") {
		numbers++
	}
	if len(f) < 1+numbers || len(f) > 2+numbers {
		return m, false
	}
	m.subject = f[0]
	if len(f) == 2+numbers {
		m.reply = f[len(f)-sizes-1]
	}
	header := 0
	if sizes == 2 {
		n, err := strconv.Atoi(f[len(f)-2])
		if err != nil || n < 0 || n > len(rest) {
			return m, false
		}
		header = n
	}
	m.header, m.data = rest[:header], rest[header:]
	return m, true
}

// request is what is asked for, "" where that is nothing that a lock is made of: a bucket that is made or looked at, and what
// a client says to a stream that it listens to.
func (m carriedMessage) request() string {
	api, of := strings.CutPrefix(m.subject, "$JS.API.")
	switch {
	case strings.HasPrefix(m.subject, "$KV."):
		switch strings.ToUpper(m.field(operation)) {
		case "":
			return put
		case "DEL":
			return del
		}
		return "purge"
	case strings.HasPrefix(api, "DIRECT.GET."), strings.HasPrefix(api, "STREAM.MSG.GET."):
		return get
	case strings.HasPrefix(api, "CONSUMER.CREATE."), strings.HasPrefix(api, "CONSUMER.DURABLE.CREATE."):
		return watch
	case strings.HasPrefix(api, "CONSUMER.DELETE."):
		return unwatch
	case of, strings.HasPrefix(m.subject, "$JS."), strings.HasPrefix(m.subject, "_"):
		return ""
	}
	return "publish"
}

// refuses reports whether an answer says that nothing was done, or nobody was there.
func (m carriedMessage) refuses() bool {
	status, _, _ := bytes.Cut(m.header, []byte("\n"))
	if f := strings.Fields(string(status)); len(f) > 1 && f[1][0] >= '4' {
		return true
	}
	return bytes.Contains(m.data, []byte(`"error":{`))
}

// field is one of the header.
func (m carriedMessage) field(name string) string {
	for line := range strings.SplitSeq(string(m.header), "\n") {
		if is, value, _ := strings.Cut(line, ":"); strings.EqualFold(strings.TrimSpace(is), name) {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
