package explore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/workloads"
)

// order is one order while it is performed.
type order struct {
	e       *engine
	lock    string
	clients []*client
	changed chan struct{} // something has happened since it was looked at
	over    chan struct{}
	stop    context.CancelFunc
	cut     bool // somebody had sent too many requests to go on
	began   time.Time
	then    []Move // what came after those that were planned
	effect  effect // of the last move
	recalls *effect
	past    past

	mu     sync.Mutex
	events history.Events
	last   lb.Instant
	free   bool // nobody is held any more
	had    []Move
	count  uint64         // of changes to what is known of the clients
	asked  map[string]int // requests, by client
	done   map[string]int // those that may have changed something, and what the servers did by themselves, by ""
}

// prefix is what the names of all its locks begin with.
func (o *order) prefix() string { return strings.TrimSuffix(o.lock, workloads.DefaultLock) }

// change says that something has happened. The lock is held.
func (o *order) change() {
	o.count++
	select {
	case o.changed <- struct{}{}:
	default:
	}
}

// hears reports whether it matters when an answer is heard: where a lease may end before that, and who
// asked can know, or the caller give up. The lock is held.
func (o *order) hears() bool {
	b := o.e.Bounds
	ends := !o.e.info.OwnClock && o.e.ends != endsNothing && b.Expiries+b.Ended > 0
	return o.e.allowed > 0 && (ends || b.Quits > 0)
}

// allows reports whether one more fault may be. The lock is held.
func (o *order) allows(m Move) bool {
	if o.e.stands && (m.Do == Expires || m.Do == Dies) {
		return false
	}
	had := slices.DeleteFunc(slices.Clone(o.had), func(m Move) bool { return !m.Fault() })
	return len(had) < o.e.allowed && o.e.Bounds.allows(had, m)
}

// begin lets the clients begin.
func (o *order) begin(ctx context.Context) error {
	ctx, o.stop = context.WithCancel(ctx)
	o.began = time.Now()
	for _, c := range o.clients {
		o.mu.Lock()
		c.main = running
		o.mu.Unlock()
		go c.run(ctx, o, o.e.Bounds.Acquisitions)
	}
	err := o.settle(ctx, start)
	o.did(start)
	return err
}

// start is what orders begin with.
var start = Move{Do: "starts"}

// run does all that the client has to do.
func (c *client) run(ctx context.Context, o *order, acquisitions int) {
	defer close(c.ended)
	for range acquisitions {
		if c.gone(o) || ctx.Err() != nil {
			break
		}
		task, quit := context.WithCancel(ctx)
		o.mu.Lock()
		c.quit = quit
		o.mu.Unlock()
		c.alone.Once(task)
		quit()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	c.main = resting
	o.change()
}

func (c *client) gone(o *order) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return c.dead
}

// Do implements [Order].
func (o *order) Do(ctx context.Context, m Move) error {
	o.mu.Lock()
	known := o.recalls
	o.had, o.effect, o.recalls = append(o.had, m), effect{}, nil
	o.does(m)
	o.mu.Unlock()
	defer o.did(m)
	do := func() error { return o.do(ctx, m) }
	switch {
	case o.e.rules.onlyReads(m):
		return o.e.held.read(ctx, m.request(), do)
	case !o.e.rules.counts(m):
		return do()
	}
	does, err := o.weighed(ctx, do, known)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.effect = does; does.nothing && !o.e.rules.all {
		o.done[m.Client]--
	}
	if c := o.client(m.Client); does.counted && !does.nothing && c.acquiring {
		c.changed = true
	}
	return err
}

// weighed has do send a request, and says what that has done: as it is known, or as the servers count.
func (o *order) weighed(ctx context.Context, do func() error, known *effect) (e effect, err error) {
	if known != nil {
		return *known, do()
	}
	e.nothing, e.counted, err = o.e.held.request(ctx, do)
	return e, err
}

// Nothing implements [effective].
func (o *order) Nothing() bool { return o.effect.nothing && !o.e.rules.all }

// Effect and Recall implement [recalling].
func (o *order) Effect() effect  { return o.effect }
func (o *order) Recall(e effect) { o.recalls = &e }

func (o *order) do(ctx context.Context, m Move) (err error) {
	switch m.Do {
	case Expires, Ended:
		err = o.end(ctx, m)
	case Dies:
		o.die(m)
	case Quits:
		o.quit(m)
	default:
		err = o.goes(m)
	}
	if err == nil {
		err = o.settle(ctx, m)
	}
	return err
}

// goes lets somebody go on who stands, or waits. Before a request that may change the lock a moment passes:
// all moves that ask a server's clock depend on such a request. Those that only look at the client's own
// don't, and a moment more or less is to be nothing to them.
func (o *order) goes(m Move) error {
	if o.e.rules.changes(m) && o.e.ends == endsLeases && o.e.timeless == "" {
		if err := o.e.leap(moment); err != nil {
			return err
		}
	}
	return o.let(m)
}

// let lets somebody go on at once.
func (o *order) let(m Move) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	c := o.client(m.Client)
	if m.Do == Pauses {
		m.Do = Calls
	}
	if m.Do == Calls && m.What == renew {
		c.renewed++
		c.renew()
		return nil
	}
	stands := m
	if m.Do == Loses {
		stands.Do = Sends
	}
	if m.Do == Wakes {
		for _, w := range c.waits {
			if w.what == m.What && w.ends != nil && w.actor != lb.Renewal {
				c.polls++
				c.fire(w)
				return nil
			}
		}
	}
	i := slices.IndexFunc(c.holds, func(h *hold) bool { return h.move == stands })
	if i < 0 {
		return fmt.Errorf("%w: %s can't come next", errAstray, m)
	}
	h := c.holds[i]
	if h.again {
		c.first = true
	}
	if m.Do == Loses {
		c.spoilt = true
		c.lose(h.server)
	}
	if m.asks() {
		o.sends(c, h, m)
	}
	c.letGo(i, nil)
	return nil
}

// sends keeps account of a request that is let go. The lock is held.
func (o *order) sends(c *client, h *hold, m Move) {
	o.asked[c.name]++
	switch h.actor {
	case lb.Main:
		if h.first {
			c.tried, c.began, c.changed = o.byOthers(c), h.move, false
		}
		for _, together := range c.holds { // the first that goes counts for all
			together.first = false
		}
		if c.acquiring {
			c.sent++
		}
	case lb.Renewal:
		c.extended++
		c.due = false
	}
	if o.e.rules.changes(m) || m.Do == Loses {
		o.done[c.name]++
	}
	c.flies(h)
}

func (o *order) client(name string) *client {
	return o.clients[slices.IndexFunc(o.clients, func(c *client) bool { return c.name == name })]
}

// End implements [Order].
func (o *order) End() {
	o.mu.Lock()
	o.free = true
	for _, c := range o.clients {
		c.spoilt = c.spoilt || c.main != resting || len(c.holds) > 0 || c.behind != 0 || len(c.waits) > 0
		for len(c.holds) > 0 {
			c.letGo(0, nil)
		}
	}
	o.mu.Unlock()
	if o.stop != nil {
		o.stop()
	}
	close(o.over)
	var all sync.WaitGroup
	for _, c := range o.clients {
		all.Go(func() { c.leave() })
	}
	all.Wait()
}

// leave waits until the client has given up, and closes its session; but not for long.
func (c *client) leave() {
	if e := c.order.e; e.reuse && !c.spoilt {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.pool = append(e.pool, c)
		return
	}
	bounded(endBound, c.died, c.ended) // what a dead one still tries reaches nobody
	closed := make(chan struct{})
	go func() { c.close(); close(closed) }()
	bounded(endBound, c.died, closed)
}

func bounded(d time.Duration, a, b <-chan struct{}) {
	late := time.NewTimer(d)
	defer late.Stop()
	select {
	case <-a:
	case <-b:
	case <-late.C:
	}
}

// endBound is how long a client may take to give up when the order has ended.
const endBound = 2 * time.Second

// record takes an event, of a client or of the store. The dead say nothing.
func (o *order) record(c *client, ev history.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if c != nil && c.dead {
		return
	}
	if c != nil && ev.Op == history.OpAcquire {
		c.acquiring = ev.Kind == history.KindCall
		delete(c.flying, lb.Main)
	}
	if ev.Kind == history.KindCall && ev.Op == history.OpAcquire {
		c.polls, c.sent, c.first, c.quits = 0, 0, true, false
	}
	o.add(ev)
}

// add stamps an event. The lock is held.
func (o *order) add(ev history.Event) {
	o.last = max(o.last+1, o.e.time.now())
	if ev.Kind == history.KindSilent { // by the machine's clock, which does not leap
		ev.Call += o.last - ev.At
	}
	ev.At = o.last
	o.events = append(o.events, ev)
	o.notes(ev)
}

func (o *order) act(name, target, phase string) {
	if target == "" {
		target = "all"
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.add(history.Event{Kind: history.KindAct, Name: name, Target: target, Phase: phase})
}
