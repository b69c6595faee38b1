package history

import lb "github.com/lockbench/lockbench"

// LeaseEnd is the instant from which the lock service may end the grant by itself,
// Forever if never. A renewal confirmed that the grant had not ended before; one
// that was confirmed after the call of a release that may have had an effect
// proves nothing. In one instant only what the same client did has an order: where it is
// not known, this is the earlier end, and [Index.LatestLeaseEnd] the later.
func (ix *Index) LeaseEnd(a *Acquisition) lb.Instant { return ix.leaseEnd(a, false) }

// LatestLeaseEnd is the instant up to which nobody else can expect the lock.
func (ix *Index) LatestLeaseEnd(a *Acquisition) lb.Instant { return ix.leaseEnd(a, true) }

func (ix *Index) leaseEnd(a *Acquisition, latest bool) lb.Instant {
	l := NewLease(a.Until)
	if a.renewals == None {
		return l.End
	}
	released, own := ix.firstRelease(a)
	for rn := range ix.Renewals(a) {
		tie := rn.At == released && (rn.after < own || own == None && (l.End == Forever) != latest)
		tie = tie || ix.Error > 0 && l.End == Forever
		if rn.At < released || tie {
			l.Renew(rn.Until)
		}
	}
	return l.End
}

// firstRelease is when a release was first called that may have had an effect, and the
// number of that call if at that instant it was nobody's but the client's own.
func (ix *Index) firstRelease(a *Acquisition) (at lb.Instant, own int32) {
	at, own = Forever, None
	for i := a.releases; i != None; {
		i = ix.releases[i].next
		switch r := &ix.releases[i]; {
		case r.Result == lb.AnswerFailed:
		case r.Client != a.Client && r.Call-2*ix.Error <= at: // by another clock
			at, own = r.Call-2*ix.Error, None
		case r.Client == a.Client && r.Call < at:
			at, own = r.Call, i
		}
		if i == a.releases {
			break
		}
	}
	return at, own
}

// MayEnd is the instant from which a grant may end without a release: by its lease,
// by a loss that its client was told of, or by the death of its process.
func (ix *Index) MayEnd(a *Acquisition) lb.Instant {
	return min(ix.LeaseEnd(a), a.Lost, ix.Dead(a))
}

// GivenBack is when the acquisition had certainly ceased to hold the lock: a release
// had returned ok, lost or released. Forever if never.
func (ix *Index) GivenBack(a *Acquisition) lb.Instant {
	at := Forever
	for r := range ix.Releases(a) {
		if r.Result == lb.AnswerOK || r.Result == lb.AnswerLost || r.Result == lb.AnswerReleased {
			at = min(at, r.Return)
		}
	}
	return at
}

// Released is the client's own first call of a release after the grant, Forever if
// there is none.
func (ix *Index) Released(a *Acquisition) lb.Instant {
	for r := range ix.Releases(a) {
		if r.Own {
			return r.Call
		}
	}
	return Forever
}

// appendLeases appends the stretches of a grant's leases, from its call on. A renewal
// that was confirmed only after the lease had ended leaves a gap.
func (ix *Index) appendLeases(spans []Span, a *Acquisition) []Span {
	if !a.Granted() {
		return spans
	}
	from, l := a.Call, NewLease(a.Until)
	for rn := range ix.Renewals(a) {
		if rn.At > l.End {
			spans = append(spans, Span{from, l.End})
			from, l = rn.At+2*ix.Error, NewLease(rn.Until)
			continue
		}
		l.Renew(rn.Until)
	}
	return append(spans, Span{from, l.End})
}

// AppendValidity appends the stretches in which the leases of a grant allow its
// client to rely on it: from the return on, cut off at a loss that it learned of.
func (ix *Index) AppendValidity(spans []Span, a *Acquisition) []Span {
	n := len(spans)
	spans = ix.appendLeases(spans, a)
	for i := range spans[n:] {
		spans[n+i].From = max(spans[n+i].From, a.Return)
	}
	return spans[:n+len(clip(spans[n:], a.Lost))]
}

// EndedBefore reports whether, at t, the lease of a grant had ended or its client had
// learned that it is lost, and since when. A release is no end of a lease.
func (ix *Index) EndedBefore(a *Acquisition, t lb.Instant) (ended lb.Instant, over bool) {
	if !a.Granted() {
		return Forever, false
	}
	ended = a.Lost
	if spans := ix.appendLeases(nil, a); ix.Error > 0 { // the last is sure
		ended = min(ended, spans[len(spans)-1].To)
		return ended, ended < t-2*ix.Error
	}
	for _, s := range ix.appendLeases(nil, a) {
		s.To = min(s.To, a.Lost)
		if s.Has(t) {
			return Forever, false
		}
		if s.To < t {
			ended = s.To
		}
	}
	return ended, ended < t
}

// AppendBelief appends the stretches in which the client relied on the grant: its
// validity, up to its own first call of a release and to the death of its process.
func (ix *Index) AppendBelief(spans []Span, a *Acquisition) []Span {
	n := len(spans)
	spans = ix.AppendValidity(spans, a)
	return spans[:n+len(clip(spans[n:], min(ix.Released(a), ix.Dead(a))))]
}

// Validity and Belief are those of AppendValidity and AppendBelief.
func (ix *Index) Validity(a *Acquisition) []Span { return ix.AppendValidity(nil, a) }

// Belief lists the stretches of [Index.AppendBelief].
func (ix *Index) Belief(a *Acquisition) []Span { return ix.AppendBelief(nil, a) }
