package faults

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/internal/wire"
)

// withheld is what the lock service has answered, and a client does not hear.
type withheld struct {
	ear     *Ear
	answers []wire.Message
	drops   *Drops
	closed  bool // by its client, before it could be reset
}

// withhold lets a stopped client go on and keeps from its process what the lock service answers, in the
// given way. It returns a moment after so much is answered that it is enough, or half a lease later. What keeps a
// session alive counts only at its own step, and what is no answer to a request never: hosts confirm what
// has arrived, and connections have a life of their own.
func withhold(ctx context.Context, on Strike, v *Victim, how func(ctx context.Context, from, to []Node) (*Drops, error), enough func(withheld) bool) (w withheld, err error) {
	if w.drops, err = how(ctx, service(on), []Node{v.Worker}); err != nil {
		return w, err
	}
	if w.ear, err = on.Overhear(ctx, v.Worker); err != nil {
		return w, err
	}
	if err := v.LetGo(ctx); err != nil {
		return w, err
	}
	asked := func(m wire.Message) bool { return !m.KeepsAlive || lb.Before(m.Request) == on.Step() }
	const step, moment = 5 * time.Millisecond, 100 * time.Millisecond
	hear := func() { w.answers = slices.DeleteFunc(w.ear.Answers(), func(m wire.Message) bool { return !asked(m) }) }
	for waited := time.Duration(0); waited < on.TTL()/2 && !enough(w); waited += step {
		if err := on.Sleep(ctx, step); err != nil {
			return w, err
		}
		hear()
	}
	err = on.Sleep(ctx, moment)
	hear()
	return w, err
}

// any is enough of one request.
func (w withheld) any() bool { return len(w.answers) > 0 }

// reset ends the connections of the victim's host with the lock service, from there, and lets the host hear
// again. Of an answer that nobody has given none is lost.
func (w *withheld) reset(ctx context.Context, on Strike, v *Victim) (connections int, err error) {
	if len(w.answers) == 0 {
		return 0, w.drops.End(ctx)
	}
	gone, err := on.Disconnect(ctx, service(on), []Node{v.Worker})
	if err != nil {
		return 0, err
	}
	w.closed = gone.Ended == 0
	return gone.Ended, w.drops.End(ctx)
}

// keptBack says for how long nothing reached the client's host: its answer was on the way for a part of that.
func (w withheld) keptBack(v *Victim) string {
	return fmt.Sprintf("did not arrive while what was sent to %s was dropped, for %s", v.Worker.Name(), seconds(w.drops.Lasted()))
}

// hungUp says that nothing was left to reset.
const hungUp = "its host had ended the connections before they could be reset"

// none says that no answer was heard.
func (w withheld) none() string {
	if n := w.ear.Missed(); n > 0 {
		return fmt.Sprintf("no answer of the lock service was heard within half a lease, by a machine that was too busy to hear %s", english.Count(n, "packet"))
	}
	return "the lock service did not answer it within half a lease"
}

// granted counts the answers to a request that were no refusal.
func (w withheld) granted(request string) (n int) {
	for _, m := range w.answers {
		if m.Request == request && !m.Failed {
			n++
		}
	}
	return n
}

// asked are the requests that were answered.
func (w withheld) asked() string {
	times := map[string]int{}
	var names []string
	for _, m := range w.answers {
		if times[m.Request]++; times[m.Request] == 1 {
			names = append(names, m.Request)
		}
	}
	for i, name := range names {
		if n := times[name]; n > 1 {
			names[i] = fmt.Sprintf("%s (%d times)", name, n)
		}
	}
	return strings.Join(names, ", ")
}

// others says whether other requests of the process may have been answered meanwhile.
func (w withheld) others() string {
	switch w.ear.Open {
	case 0:
		return "and no other request of its process was on its way"
	case 1:
		return "while another request of its process was on its way"
	}
	return fmt.Sprintf("while %d other requests of its process were on their way", w.ear.Open)
}
