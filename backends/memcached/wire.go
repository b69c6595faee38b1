package memcached

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/lockbench/lockbench/internal/wire"
)

// Language is memcached's text protocol, the meta commands with it. The binary protocol is another.
var Language = wire.Language{
	Name: "memcached", Begin: func() wire.Protocol { return &protocol{} },
	Reads: []string{"get", "gets", "me"},
}

// protocol reads lines, of which some have data behind them, and answers, which come in the order of the requests.
type protocol struct {
	asked []*request // oldest first
}

// request is one that is not answered to its end.
type request struct {
	name   string
	silent bool // sets up the connection, or looks whether it is there
	begun  bool
}

const longestLine = 64 << 10

func (p *protocol) Length(who wire.Side, unread []byte) int {
	if !begins(who, unread[0]) {
		return wire.Nonsense
	}
	end := bytes.IndexByte(unread, '\n')
	switch {
	case end < 0 && len(unread) > longestLine:
		return wire.Nonsense
	case end < 0:
		return 0
	}
	line := end + 1
	size, has := data(who, strings.Fields(string(unread[:end])))
	switch {
	case !has:
		return line
	case size < 0 || size > wire.Longest:
		return wire.Nonsense
	}
	return line + size + len(newline)
}

// begins reports whether a line can begin so: commands are in small letters; answers are words in capitals, numbers,
// and names of what is listed.
func begins(who wire.Side, b byte) bool {
	small := b >= 'a' && b <= 'z'
	return small || who == wire.Server && (b >= 'A' && b <= 'Z' || b >= '0' && b <= '9')
}

// data is how many bytes come behind a line, if any do; negative where the line does not say it.
func data(who wire.Side, words []string) (size int, has bool) {
	if len(words) == 0 {
		return 0, false
	}
	at, has := sizes[who][words[0]]
	if !has {
		return 0, false
	}
	if at >= len(words) {
		return wire.Nonsense, true
	}
	size, err := strconv.Atoi(words[at])
	if err != nil {
		return wire.Nonsense, true
	}
	return size, true
}

// sizes are where lines with data say how much it is.
var sizes = [2]map[string]int{
	wire.Client: {"set": 4, "add": 4, "replace": 4, "append": 4, "prepend": 4, "cas": 4, "ms": 2},
	wire.Server: {"VALUE": 3, "VA": 1},
}

func (p *protocol) Read(who wire.Side, message []byte) ([]wire.Message, wire.Protocol) {
	line, _, _ := bytes.Cut(message, []byte("\n"))
	words := strings.Fields(string(line))
	if len(words) == 0 {
		return nil, p
	}
	if who == wire.Server {
		return p.answer(words[0]), p
	}
	return p.ask(words)
}

func (p *protocol) ask(words []string) ([]wire.Message, wire.Protocol) {
	r := &request{name: words[0], silent: setsUp[words[0]]}
	last := words[len(words)-1]
	switch {
	case r.name == "watch", meta[r.name] && hasFlag(words, 'q'): // what is answered, and when, is not for who hears it
		return nil, wire.Raw{}
	case last != "noreply" && r.name != "quit":
		p.asked = append(p.asked, r)
	}
	return r.note(false), p
}

// note is what there is to say where it is asked, and where it is answered.
func (r *request) note(failed bool) []wire.Message {
	if r.silent {
		return nil
	}
	return []wire.Message{{Request: r.name, Failed: failed}}
}

// answer gets the first word of a line, which perhaps is not the last of its answer.
func (p *protocol) answer(word string) []wire.Message {
	if len(p.asked) == 0 {
		return nil
	}
	r := p.asked[0]
	first := !r.begun
	r.begun = true
	if !goesOn(word) {
		p.asked = p.asked[1:]
	}
	if !first {
		return nil
	}
	return r.note(refuses(word, r.name))
}

// goesOn reports whether more lines follow, up to an END.
func goesOn(word string) bool {
	return word == "VALUE" || word == "STAT" || word == "ITEM" || strings.HasPrefix(word, "key=")
}

// refuses reports whether the word says that nothing was done, or nothing was there. An END is that only where it is all.
func refuses(word, request string) bool {
	switch word {
	case "NOT_STORED", "EXISTS", "NOT_FOUND", "NF", "NS", "EX", "EN", "BUSY":
		return true
	case "END":
		return !setsUp[request]
	}
	return strings.HasSuffix(word, "ERROR")
}

// setsUp are the commands that are no requests: they set up a connection, look whether it is there, or end it, or ask
// the server about itself.
var setsUp = map[string]bool{"version": true, "verbosity": true, "mn": true, "stats": true, "lru_crawler": true, "quit": true}

var meta = map[string]bool{"mg": true, "ms": true, "md": true, "ma": true}

// hasFlag reports whether a meta command has the flag, which is behind its key.
func hasFlag(words []string, flag byte) bool {
	for _, w := range words[min(2, len(words)):] {
		if w[0] == flag {
			return true
		}
	}
	return false
}
