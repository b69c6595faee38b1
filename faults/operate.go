package faults

import (
	"context"
	"strings"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/lab"
)

// withinLease is how long a holder is kept at work by faults that take its grant from
// under it: it goes on while it may still rely on the lock. The lease is then longer than
// usual, so that a busy machine does not make it too late.
var withinLease = Length{TTLs: 0.5}

// underHolder has people give a command to the servers that keep the lock while a client
// holds it and nobody else has asked for it yet: who asks just afterwards is told what the
// servers know then, and does not sleep until a lease is over that they have forgotten.
func underHolder(f Fault, what lab.Operation) Fault {
	f.Family, f.At, f.Lasts, f.MinTTL = Servers, whileHolding, withinLease, promotionTTL
	f.Needs = append(f.Needs, Knows(what), Requests)
	f.Inject = func(ctx context.Context, on Strike) (Proof, error) {
		v, others, err := alone(ctx, on)
		if err != nil {
			return nil, err
		}
		did, err := operate(ctx, on, what, v.Worker)
		if err != nil {
			return nil, err
		}
		return did.proof("while " + v.Client + " stood at " + on.Step()), others(ctx)
	}
	return f
}

// alone stops a client that holds the lock, at the fault's step, and all others before they
// ask for it. What it returns lets those go on.
func alone(ctx context.Context, on Strike) (v *Victim, others func(context.Context) error, err error) {
	asking, others, err := gathered(ctx, on)
	if err != nil {
		return nil, nil, err
	}
	v, err = holds(ctx, on, asking)
	return v, others, err
}

// gathered stops one client that is about to ask for the lock, and all others. What it
// returns lets those go on.
func gathered(ctx context.Context, on Strike) (asking *Victim, others func(context.Context) error, err error) {
	ask := Fault{At: AtFirst}.Step(on.Setting())
	if asking, err = on.Stop(ctx, nil, ask, Delay); err != nil {
		return nil, nil, err
	}
	others, err = on.HoldOthers(ctx, ask, asking)
	return asking, others, err
}

// holds lets the one go that is about to ask, and stops it at the fault's step.
func holds(ctx context.Context, on Strike, asking *Victim) (*Victim, error) {
	if err := asking.LetGo(ctx); err != nil {
		return nil, err
	}
	return on.Stop(ctx, asking.Worker, on.Step(), Delay)
}

// amongClients has people give a command while clients take the lock and give it back.
func amongClients(f Fault, what lab.Operation) Fault {
	f.Family, f.Needs = Servers, append(f.Needs, Knows(what))
	f.Inject = func(ctx context.Context, on Strike) (Proof, error) {
		if err := aGrant(ctx, on); err != nil {
			return nil, err
		}
		did, err := operate(ctx, on, what, nil)
		return did.proof("while clients worked"), err
	}
	return f
}

// done is what a command did, by server.
type done struct {
	servers []Node
	effects []*Operated
}

// operate gives the command to every server that keeps locks for clients: to the leader, or
// to all where none leads.
func operate(ctx context.Context, on Stage, what lab.Operation, of Node) (d done, err error) {
	servers := on.Servers()
	if on.Setting().Topology.Leads() {
		leader, err := on.Leader(ctx, nil)
		if err != nil {
			return d, err
		}
		servers = []Node{leader}
	}
	return give(ctx, on, what, of, servers)
}

// give gives the command to each of the servers.
func give(ctx context.Context, on OperatorActs, what lab.Operation, of Node, servers []Node) (d done, err error) {
	for _, s := range servers {
		e, err := on.Operate(ctx, s, what, of)
		if err != nil {
			return d, err
		}
		d.servers, d.effects = append(d.servers, s), append(d.effects, e)
	}
	return d, nil
}

// proof says what each server counted: a majority must have been hit, or have found that there was
// nothing to hit, which is all that the fault can do to such a lock.
func (d done) proof(when string) Proof {
	return func() history.Proof {
		var told []string
		hit := 0
		for i, s := range d.servers {
			e := d.effects[i].Effect()
			if e.Count > 0 || e.Immune {
				hit++
			}
			told = append(told, s.Name()+" "+e.Told)
		}
		return proven(hit > len(d.servers)/2, "%s %s", strings.Join(told, "; "), when)
	}
}
