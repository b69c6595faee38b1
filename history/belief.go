package history

import lb "github.com/lockbench/lockbench"

// LeaseEnd is the instant from which the lock service may end the grant by itself,
// Forever if never. A renewal confirmed that the grant had not ended before; one
// that was confirmed after the call of a release that may have had an effect
// proves nothing.
func (ix *Index) LeaseEnd(a *Acquisition) lb.Instant {
	l := NewLease(a.Until)
	if a.renewals == None {
		return l.End
	}
	released := Forever
	for r := range ix.Releases(a) {
		if r.Result != Fail {
			released = min(released, r.Call)
		}
	}
	for rn := range ix.Renewals(a) {
		if rn.At <= released {
			l.Renew(rn.Until)
		}
	}
	return l.End
}

// MayEnd is the instant from which a grant may end without a release: by its lease,
// by a loss that its client was told of, or by the death of its process.
func (ix *Index) MayEnd(a *Acquisition) lb.Instant {
	return min(ix.LeaseEnd(a), a.Lost, ix.Dead(a))
}

// GivenBack is when the acquisition had certainly ceased to hold the lock: a release
// had returned ok or lost. Forever if never.
func (ix *Index) GivenBack(a *Acquisition) lb.Instant {
	at := Forever
	for r := range ix.Releases(a) {
		if r.Result == OK || r.Result == Lost {
			at = min(at, r.Return)
		}
	}
	return at
}

// Released is the client's own first call of a release, Forever if there is none.
func (ix *Index) Released(a *Acquisition) lb.Instant {
	for r := range ix.Releases(a) {
		if r.Client == a.Client {
			return r.Call
		}
	}
	return Forever
}

// appendLeases appends the stretches of a grant's leases. A renewal that was
// confirmed only after the lease had ended leaves a gap. The first may be empty: a
// lease can end before its grant is known.
func (ix *Index) appendLeases(spans []Span, a *Acquisition) []Span {
	if !a.Granted() {
		return spans
	}
	from, l := a.Return, NewLease(a.Until)
	for rn := range ix.Renewals(a) {
		if rn.At > l.End {
			spans = append(spans, Span{from, l.End})
			from, l = max(rn.At, a.Return), NewLease(rn.Until)
			continue
		}
		l.Renew(rn.Until)
	}
	return append(spans, Span{from, l.End})
}

// AppendValidity appends the stretches in which the leases of a grant allow its
// client to rely on it, cut off at a loss that it learned of.
func (ix *Index) AppendValidity(spans []Span, a *Acquisition) []Span {
	n := len(spans)
	spans = ix.appendLeases(spans, a)
	return spans[:n+len(clip(spans[n:], a.Lost))]
}

// EndedBefore reports whether, at t, the lease of a grant had ended or its client had
// learned that it is lost, and since when. A release is no end of a lease.
func (ix *Index) EndedBefore(a *Acquisition, t lb.Instant) (ended lb.Instant, over bool) {
	if !a.Granted() {
		return Forever, false
	}
	ended = a.Lost
	for _, s := range ix.appendLeases(nil, a) {
		s.To = min(s.To, a.Lost)
		if s.From < s.To && s.Has(t) {
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
