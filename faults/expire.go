package faults

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/english"
)

// expiring are the faults that end sessions on purpose, at the lock service, while the
// clients run and reach it. whose chooses among them while v stands at the step, and says
// what they were about. The one that stands goes on within its lease: held for longer, a
// holder would overstay, and that is another fault.
func expiring(name, doc string, whose func(on Strike, v *Victim, all []Client) (some []Client, about string)) Fault {
	return Fault{Name: name, Family: Servers, Doc: doc, At: whileHolding, Needs: []Need{Sessions}, Prefers: AnEnsemble, MinTTL: expiryTTL, Lasts: Length{TTLs: 0.5},
		Inject: func(ctx context.Context, on Strike) (Proof, error) {
			v, all, err := inLine(ctx, on)
			if err != nil {
				return nil, err
			}
			some, about := whose(on, v, all)
			if len(some) == 0 {
				return nil, ErrNobody
			}
			var names []string
			for _, c := range some {
				names = append(names, c.Name)
			}
			ended, err := on.Expire(ctx, some...)
			if err != nil {
				return nil, err
			}
			return func() history.Proof {
				return proven(ended > 0, "the lock service ended %s that it knew, of %s, %s", english.Count(ended, "session"), strings.Join(names, "+"), about)
			}, nil
		}}
}

// inLine stops a client at the step, and gives the others time to stand in line behind it.
func inLine(ctx context.Context, on Strike) (*Victim, []Client, error) {
	v, err := on.Stop(ctx, nil, on.Step(), Delay)
	if err == nil {
		err = on.Sleep(ctx, on.TTL()/10)
	}
	if err != nil {
		return nil, nil, err
	}
	all, err := on.Clients(ctx)
	return v, all, err
}

// waitingFor are those who wait while v stands.
func waitingFor(v *Victim, all []Client) []Client {
	return slices.DeleteFunc(all, func(c Client) bool { return c.Name == v.Client || c.Asks == "" })
}

// expiryTTL leaves time, within the lease, for the sessions of all clients to be ended on a
// busy machine.
const expiryTTL = 2 * time.Second

// expire ends the session of a client at a step.
func expire() Fault {
	return expiring("expire", "the lock service ends the session of a client at a step, which goes on within its lease",
		func(on Strike, v *Victim, all []Client) ([]Client, string) {
			return slices.DeleteFunc(all, func(c Client) bool { return c.Name != v.Client }), "while it stood at " + on.Step()
		})
}

func expireHolder() Fault {
	return named(expire(), "expire-holder", "the lock service ends the session of a holder at work, which goes on within its lease", whileHolding)
}

// expireWaiter ends the session of one of those that stand in line behind a holder.
func expireWaiter() Fault {
	return expiring("expire-waiter", "the lock service ends the session of a client that waits for the lock while another works",
		func(on Strike, v *Victim, all []Client) ([]Client, string) {
			waiting := waitingFor(v, all)
			if len(waiting) == 0 {
				return nil, ""
			}
			w := waiting[on.Rand().IntN(len(waiting))]
			return []Client{w}, "while it waited for the lock (as " + w.Asks + ") and " + on.standing(v)
		})
}

// expireLine ends the sessions of all that stand in line behind a holder, and has nobody ask until long
// after that one has given back: the line is empty then, and what was there for it is removed, where the
// servers do that. Who takes that for its turn is kept at work until others ask.
func expireLine() Fault {
	return Fault{Name: "expire-line", Family: Servers, At: whileHolding, Needs: []Need{Sessions, Requests}, Prefers: AnEnsemble, MinTTL: promotionTTL, Lasts: withinLease,
		Doc: "the lock service ends the sessions of all that wait behind a holder; it gives back, and only later somebody asks for the lock",
		Inject: func(ctx context.Context, on Strike) (Proof, error) {
			v, all, err := inLine(ctx, on)
			if err != nil {
				return nil, err
			}
			waiting := waitingFor(v, all)
			if len(waiting) == 0 {
				return nil, ErrNobody
			}
			others, err := on.HoldAll(ctx, Fault{At: AtFirst}.Step(on.Setting()))
			if err != nil {
				return nil, err
			}
			ended, err := on.Expire(ctx, waiting...)
			if err != nil {
				return nil, err
			}
			if err := v.LetGo(ctx); err != nil {
				return nil, err
			}
			took, err := grantedMeanwhile(ctx, on)
			if err != nil {
				return nil, err
			}
			return func() history.Proof {
				return proven(ended > 0, "the lock service ended %s that it knew, of %s that waited while %s; it was let go, and until all were, nobody could begin to ask (%s)",
					english.Count(ended, "session"), english.Count(len(waiting), "client"), on.standing(v), took)
			}, others(ctx)
		}}
}

// removed is when a server has removed what is empty: it looks every second.
const removed = 1200 * time.Millisecond

// grantedMeanwhile waits for a lease, and keeps who is granted the lock by then at work. If somebody is,
// it waits no longer than for what is empty to be removed.
func grantedMeanwhile(ctx context.Context, on Strike) (told string, err error) {
	lease, cancel := context.WithTimeout(ctx, on.TTL())
	defer cancel()
	type caught struct {
		v   *Victim
		err error
	}
	workers, came, began := on.Workers(), make(chan caught), time.Now()
	for _, w := range workers {
		go func() {
			v, err := on.Stop(lease, w, on.Step(), Delay)
			came <- caught{v, err}
		}()
	}
	var names []string
	for range workers {
		c := <-came
		switch {
		case c.err == nil && len(names) == 0:
			err = errors.Join(err, on.Sleep(ctx, max(on.TTL()/10, removed-time.Since(began))))
			cancel()
			fallthrough
		case c.err == nil:
			names = append(names, c.v.Client)
		case !errors.Is(c.err, ErrNobody):
			err = errors.Join(err, c.err)
		}
	}
	if len(names) == 0 {
		return "nobody was granted it meanwhile", err
	}
	return strings.Join(names, "+") + " was granted it meanwhile", err
}

// expireAll ends all sessions, as a lock service does that was out of reach for too long.
func expireAll() Fault {
	return expiring("expire-all", "the lock service ends the sessions of all clients while one of them holds the lock",
		func(on Strike, v *Victim, all []Client) ([]Client, string) {
			return all, "while " + on.standing(v)
		})
}
