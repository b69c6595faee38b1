package conform

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	lb "github.com/lockbench/lockbench"
)

// These checks compare what passes [lb.Env.Send] with what goes over the wire, in
// four situations, and with what Info says.

// requestsAlone: where nobody else wants the lock.
func requestsAlone(ctx context.Context, b *bench) error {
	return b.compare(ctx, 1, func(ps []*party, lock string) error {
		for range 2 {
			h, err := ps[0].soon(ctx, lock)
			if err != nil {
				return err
			}
			if _, err := h.asked(ctx); err != nil {
				return err
			}
			if err := h.release(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// requestsInLine: where one waits for another.
func requestsInLine(ctx context.Context, b *bench) error {
	return b.compare(ctx, 2, func(ps []*party, lock string) error { return handOver(ctx, ps, lock) })
}

// requestsRenewed: of a holder for longer than its lease.
func requestsRenewed(ctx context.Context, b *bench) error {
	return b.compare(ctx, 1, func(ps []*party, lock string) error {
		h, err := ps[0].soon(ctx, lock)
		if err != nil {
			return err
		}
		if err := pause(ctx, b.ttl+b.ttl/2); err != nil {
			return err
		}
		if b.impl.Info().Traits.Renewing && !slices.ContainsFunc(ps[0].watch.requests(), func(m lb.Move) bool { return m.Actor == lb.Renewal }) {
			return fmt.Errorf("no request of a renewal has passed in %v", b.ttl+b.ttl/2)
		}
		return h.release(ctx)
	})
}

// requestsCleanUp: of one that gives up waiting, and of one that never hears whether
// it was granted the lock.
func requestsCleanUp(ctx context.Context, b *bench) error {
	return b.compare(ctx, 3, func(ps []*party, lock string) error {
		h, err := ps[0].soon(ctx, lock)
		if err != nil {
			return err
		}
		req := ps[1].request(lock)
		err = ps[1].impatient(ctx, req)
		if err == nil {
			return errors.New("was granted, although another client holds it")
		}
		_ = h.release(ctx)              // a clean-up that looks at no owner has taken its lock away
		_ = ps[1].settle(ctx, req, err) // some can end a wait only by a grant
		req = ps[2].request(lock + "-unknown")
		ps[2].set(loses)
		err = ps[2].unheard(ctx, req)
		ps[2].set(forwards)
		_ = ps[2].settle(ctx, req, err)
		return nil
	})
}

// requestsFirst: every acquisition begins with the first request of Info, be it that
// of a fresh client or of a used one, of a free lock or of a taken one.
func requestsFirst(ctx context.Context, b *bench) error {
	ps, err := b.clients(ctx, 2)
	if err != nil {
		return err
	}
	for range 2 {
		if err := handOver(ctx, ps, b.lock); err != nil && !b.wrong {
			return err
		}
	}
	requests := b.impl.Info().Requests
	if len(requests) == 0 {
		return errors.New("its Info names no request")
	}
	for _, p := range ps {
		began := map[string]string{} // acquisitions, with what
		for _, m := range p.watch.requests() {
			if began[m.Owner] == "" && m.Actor != lb.Renewal {
				began[m.Owner] = m.Name
			}
		}
		for n := range p.count {
			if name := began[p.owner(n+1)]; name != requests[0] {
				return fmt.Errorf("acquisition %d of %s began with %q, want %q, the first of its Info", n+1, p.env.Client, name, requests[0])
			}
		}
	}
	return nil
}

// impatient stops waiting after a moment.
func (p *party) impatient(ctx context.Context, req lb.Request) error {
	limited, cancel := context.WithTimeout(ctx, p.moment)
	defer cancel()
	_, err := p.session.Acquire(limited, req)
	p.gaveUp++
	return err
}

// unheard is an acquire that no server answers.
func (p *party) unheard(ctx context.Context, req lb.Request) error {
	return p.inTime(ctx, "Acquire", func(ctx context.Context) error {
		_, err := p.session.Acquire(ctx, req)
		return err
	})
}

// compare lets n clients do something, and then wants every request of theirs that
// went over the wire to have passed, and the other way round. (The other way, a
// context may end between the two, but not again and again.)
func (b *bench) compare(ctx context.Context, n int, do func(ps []*party, lock string) error) (err error) {
	for try := range 3 {
		ps, e := b.clients(ctx, n)
		if e != nil {
			return e
		}
		if e := pause(ctx, b.settled/10); e != nil { // what Open began ends
			return e
		}
		for _, p := range ps {
			p.passed, p.wired = len(p.watch.requests()), len(p.heard())
		}
		if e := do(ps, fmt.Sprintf("%s-%d", b.lock, try)); e != nil && !b.wrong {
			return e
		}
		err = nil
		for _, p := range ps {
			err = errors.Join(err, p.balance(ctx, b.renewals))
		}
		if err == nil {
			return nil
		}
	}
	return err
}

// balance waits until as many requests have gone over the wire as have passed. Where
// the network was broken, some have passed and found no connection; and spare renewals
// may have passed and found the lock given back.
func (p *party) balance(ctx context.Context, spare int) error {
	for deadline := time.Now().Add(p.settled); ; {
		passed, wired := p.watch.requests()[p.passed:], p.heard()[p.wired:]
		unsent := len(passed) - len(wired)
		switch {
		case unsent == 0, unsent > 0 && p.broken, unsent > 0 && unsent <= min(spare, renewals(passed)):
			return nil
		case unsent > 0 && unsent <= p.gaveUp && len(passed) > spins*unsent:
			return nil // who asks without a rest gives up between the two, more often than not
		case time.Now().After(deadline):
			return fmt.Errorf("%d requests passed: %v; %d went over the wire: %v", len(passed), few(titles(passed)), len(wired), few(wired))
		}
		if err := pause(ctx, p.settled/100); err != nil {
			return err
		}
	}
}

// spins is how many requests there are for each that was given up of a client that asks without a rest.
const spins = 100

func renewals(moves []lb.Move) (n int) {
	for _, m := range moves {
		if m.Actor == lb.Renewal {
			n++
		}
	}
	return n
}

// few keeps a list short enough to be read.
func few(all []string) []string {
	if len(all) <= 20 {
		return all
	}
	return append(slices.Clone(all[:20]), "…")
}

func titles(moves []lb.Move) (all []string) {
	for _, m := range moves {
		all = append(all, m.Name)
	}
	return all
}
