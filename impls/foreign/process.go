package foreign

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockbench/lockbench/internal/processes"
)

const (
	// startBound is how long a program may take to say what it is: a virtual machine starts,
	// beside others.
	startBound = 20 * time.Second
	// answerBound is how long a question that was cancelled may go on.
	answerBound = 5 * time.Second
	// unread is how many messages may wait for a program that does not read.
	unread = 1024
	// closeBound is how long a program may take to end when it is told to.
	closeBound = 2 * time.Second
)

// process is a program that runs, and what was asked of it.
type process struct {
	name    string
	cmd     *exec.Cmd
	noClock error         // why it does not follow this process's clocks
	hear    func(message) // what it says by itself
	said    *said
	writes  chan message
	gone    chan struct{} // closed when it has ended, or has done wrong
	ended   chan struct{} // closed when the process has

	mu      sync.Mutex
	asked   uint64
	open    map[uint64]*question
	before  *question // that was answered last
	uttered int       // by itself, since its last answer
	wrong   error     // what ended it
	closing bool
}

// question is what was asked.
type question struct {
	do     string
	owner  string
	n      uint64
	done   chan struct{} // closed when there is an answer
	answer message
	heard  func(message) // sees the answer before anything that the program says after it
}

func (q *question) String() string { return fmt.Sprintf("%s %d", q.do, q.n) }

// started tells the programs of this process apart.
var started atomic.Uint64

// newProcess starts the program. What it prints goes to the log; hear is told what it says by
// itself, one at a time.
func newProcess(c Command, log io.Writer, hear func(message)) (*process, error) {
	p := &process{name: c.title(), hear: hear, said: &said{to: log}, writes: make(chan message, unread),
		gone: make(chan struct{}), ended: make(chan struct{}), open: map[uint64]*question{}}
	p.cmd, p.noClock = c.cmd()
	mark := fmt.Sprintf("LOCKBENCH_PROGRAM=%d.%d", os.Getpid(), started.Add(1))
	p.cmd.Env = append(p.cmd.Env, mark)
	p.cmd.Stderr = p.said
	p.cmd.WaitDelay = closeBound // a helper may hold its standard error
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", p.name, err)
	}
	out, theirs, err := os.Pipe() // not StdoutPipe, which ends with the process, read or not
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", p.name, err)
	}
	p.cmd.Stdout = theirs
	ended, read := make(chan error, 1), make(chan struct{})
	err = start(p.cmd, func(err error) { ended <- err })
	_ = theirs.Close()
	if err != nil {
		_ = out.Close()
		return nil, fmt.Errorf("start %s: %w", p.name, err)
	}
	live.add(p)
	go p.write(in)
	go func() { p.read(out); close(read) }()
	go func() {
		err := <-ended
		close(p.ended)
		processes.KillMarked(mark)  // what it has left
		patiently(closeBound, read) // what it said last counts
		_ = out.Close()
		p.end(p.ending(err))
	}()
	return p, nil
}

// ending is how the process ended by itself.
func (p *process) ending(err error) error {
	p.mu.Lock()
	closing := p.closing
	p.mu.Unlock()
	if closing {
		return errClosed
	}
	how := "exit status 0"
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		how = err.Error()
	}
	what := "ended before it was told to"
	if open := p.unanswered(); len(open) > 0 {
		what = "ended before it answered " + strings.Join(open, " and ")
	}
	f := p.finding("%s, with %s", what, how)
	if last := p.said.last(); last != "" {
		f.What += ": " + last
	}
	return f
}

func (p *process) unanswered() (all []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, q := range p.open {
		all = append(all, q.String())
	}
	slices.Sort(all)
	return all
}

// end says that no more answers are to come, and why. Only the first reason counts.
func (p *process) end(why error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.wrong == nil {
		p.wrong = why
		live.remove(p)
		close(p.gone)
	}
}

// blame ends a program that has done wrong.
func (p *process) blame(f *Finding) {
	p.end(f)
	processes.Kill(p.cmd.Process.Pid)
}

func (p *process) why() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.wrong
}

// ask returns the answer to a question. When ctx ends before it has come, the question is
// cancelled. heard, if it is not nil, sees the answer before anything that the program says
// after it. The error is that of a program that is no more.
func (p *process) ask(ctx context.Context, m message, heard func(message)) (message, error) {
	q := p.pose(m, heard)
	select {
	case <-q.done:
	case <-p.gone:
	case <-ctx.Done():
		p.send(message{N: q.n, Do: doCancel})
		if !patiently(answerBound, q.done, p.gone) {
			p.blame(p.finding("did not answer %v within %v of its being cancelled", q, answerBound))
		}
	}
	return p.answered(q)
}

// askWithin is [process.ask] for a question that nobody can hurry, unless nobody wants its answer.
func (p *process) askWithin(ctx context.Context, bound time.Duration, m message) (message, error) {
	q := p.pose(m, nil)
	if !patiently(bound, q.done, p.gone, ctx.Done()) {
		p.blame(p.finding("did not answer %s within %v", q.do, bound))
	}
	return p.answered(q)
}

func (p *process) pose(m message, heard func(message)) *question {
	p.mu.Lock()
	p.asked++
	q := &question{do: m.Do, owner: m.Owner, n: p.asked, done: make(chan struct{}), heard: heard}
	p.open[q.n] = q
	p.mu.Unlock()
	m.N = q.n
	p.send(m)
	return q
}

func (p *process) answered(q *question) (message, error) {
	select {
	case <-q.done:
		return q.answer, nil
	default:
		return message{}, cmp.Or(p.why(), errUnwanted)
	}
}

// errUnwanted is the answer that nobody waited for.
var errUnwanted = errors.New("nobody waits for the program's answer any more")

// patiently waits until one of them is closed, and reports whether one was before so much time
// had passed in which this process ran: one that was frozen has not waited.
func patiently(bound time.Duration, any ...<-chan struct{}) bool {
	const tick = 50 * time.Millisecond
	any = append(any, nil, nil, nil)
	for range bound / tick {
		t := time.NewTimer(tick)
		select {
		case <-any[0]:
			t.Stop()
			return true
		case <-any[1]:
			t.Stop()
			return true
		case <-any[2]:
			t.Stop()
			return true
		case <-t.C:
		}
	}
	return false
}

// send has a message written, and does not wait for that: of a program that reads nothing more
// the answers are missing, or too many messages wait.
func (p *process) send(m message) {
	select {
	case p.writes <- m:
	case <-p.gone:
	default:
		p.blame(p.finding("does not read its standard input: %d messages wait for it", cap(p.writes)))
	}
}

func (p *process) write(in io.WriteCloser) {
	defer in.Close()
	enc := json.NewEncoder(in)
	for {
		select {
		case m := <-p.writes:
			if enc.Encode(m) != nil || m.Do == doClose {
				return // of a program that does not read any more its end tells
			}
		case <-p.gone:
			return
		}
	}
}

// close tells the program to end, and ends it where it does not.
func (p *process) close() {
	p.mu.Lock()
	p.closing = true
	p.mu.Unlock()
	p.send(message{Do: doClose})
	if !patiently(closeBound, p.gone) {
		processes.Kill(p.cmd.Process.Pid)
		patiently(closeBound, p.gone)
	}
}

var errClosed = errors.New("the session of the program was closed")
