package foreign

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
)

const (
	// longest is the longest line that is a message.
	longest = 64 << 10
	// chatter is how much a program may say by itself between two answers.
	chatter = 10_000
)

// read hands each message to who waits for it.
func (p *process) read(out io.Reader) {
	in := bufio.NewReaderSize(out, longest)
	for {
		line, err := in.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			p.blame(p.finding("printed a line of more than %d KiB on standard output: %s", longest>>10, brief(line)))
			return
		case err != nil && len(line) == 0:
			p.deaf()
			return
		}
		if f := p.take(line); f != nil {
			p.blame(f)
			return
		}
	}
}

// deaf is called when standard output has ended, which it does with the program.
func (p *process) deaf() {
	p.mu.Lock()
	closing := p.closing
	p.mu.Unlock()
	if !closing && !patiently(time.Second, p.gone, p.ended) {
		p.blame(p.finding("closed its standard output, and runs on"))
	}
}

// take takes one line.
func (p *process) take(line []byte) *Finding {
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) && wrong.Field != "" {
			return p.finding("said %s, where %s can't be %s", brief(line), wrong.Field, wrong.Value)
		}
		return p.finding("printed %s on standard output, which is for the messages of docs/protocol.md", brief(line))
	}
	switch m.Say {
	case sayRenewed, sayStep, saySession:
		return p.byItself(m)
	case sayLost:
		if m.Owner != "" && !p.releases(m) {
			return p.byItself(m)
		}
	}
	q, f := p.answers(m, line)
	if f != nil {
		return f
	}
	q.answer = m
	if q.do == doDescribe {
		q.answer.whole = slices.Clone(line)
	}
	if q.heard != nil {
		q.heard(m)
	}
	close(q.done)
	return nil
}

// releases reports whether a message is the answer to a question of an owner that repeats it, and
// no notice.
func (p *process) releases(m message) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	q := p.open[m.N]
	return q != nil && (q.do == doRelease || q.do == doValid) && q.owner == m.Owner
}

// answers is the question that a message answers.
func (p *process) answers(m message, line []byte) (*question, *Finding) {
	p.mu.Lock()
	defer p.mu.Unlock()
	q := p.open[m.N]
	switch {
	case q == nil && p.before != nil && m.N == p.before.n:
		return nil, p.finding("answered %v twice, the second time with %s", p.before, brief(line))
	case q == nil && m.N > 0 && m.N <= p.asked:
		return nil, p.finding("answered question %d again, with %s", m.N, brief(line))
	case q == nil:
		return nil, p.finding("said %s, which answers nothing that was asked", brief(line))
	case !slices.Contains(answers[q.do], m.Say):
		return nil, p.finding("answered %v with %q, which is not among its answers: %s", q, m.Say, strings.Join(answers[q.do], ", "))
	}
	delete(p.open, m.N)
	p.uttered, p.before = 0, q
	return q, nil
}

func (p *process) byItself(m message) *Finding {
	p.mu.Lock()
	p.uttered++
	flood := p.uttered > chatter
	p.mu.Unlock()
	if flood {
		return p.finding("said more than %d things between two answers, the last of them %q", chatter, m.Say)
	}
	p.hear(m)
	return nil
}

// brief is a line that a reader can bear.
func brief(line []byte) string {
	const most = 120
	text := strings.TrimSpace(string(line))
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	if strings.HasPrefix(text, "{") && strings.IndexFunc(text, unicode.IsControl) < 0 {
		return text // quoted, a message can hardly be read
	}
	return fmt.Sprintf("%q", text)
}
