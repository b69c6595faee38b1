package checker

import (
	"cmp"
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// The names of what a history is made of, as often as they are needed here.
type (
	acquisition = history.Acquisition
	span        = history.Span
)

// Forever is [history.Forever].
const Forever = history.Forever

// run is one history with its plan, and what several layers ask of it.
type run struct {
	*history.Index
	plan history.Plan

	beliefs [][]held // by lock, see believe
	// What layers measure beside their verdicts.
	copies              map[string]Copy
	outage              lb.Instant
	outageTold          string
	sections, contended int
}

// held is one stretch of belief with its acquisition.
type held struct {
	span
	acq int32
}

// newRun does what all layers need.
func newRun(plan history.Plan, ix *history.Index) *run {
	r := &run{Index: ix, plan: plan}
	r.believe()
	r.sections, r.contended = r.countSections(), r.countContended()
	return r
}

// believe lists all beliefs of each lock, by their begin.
func (r *run) believe() {
	r.beliefs = make([][]held, len(r.Locks))
	var spans []span
	for lock, acqs := range r.ByLock() {
		hs := make([]held, 0, len(acqs))
		for _, i := range acqs {
			spans = r.AppendBelief(spans[:0], &r.Acqs[i])
			for _, s := range spans {
				hs = append(hs, held{s, i})
			}
		}
		slices.SortFunc(hs, func(a, b held) int {
			return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.acq, b.acq))
		})
		r.beliefs[lock] = hs
	}
}

// granted lists the grants of one lock.
func (r *run) granted(acqs []int32) []*acquisition { return r.those(acqs, (*acquisition).Granted) }

// those lists the acquisitions that match.
func (r *run) those(acqs []int32, match func(*acquisition) bool) []*acquisition {
	var some []*acquisition
	for _, i := range acqs {
		if a := &r.Acqs[i]; match(a) {
			some = append(some, a)
		}
	}
	return some
}

// frozen finds the longest silence of the client's process that overlaps s.
func (r *run) frozen(client int32, s span) (span, bool) {
	var longest span
	for _, q := range r.SilentIn(client, s) {
		if q.To-q.From > longest.To-longest.From {
			longest = q
		}
	}
	return longest, longest.To > longest.From
}

// clientNames lists who asked, sorted.
func (r *run) clientNames(acqs []*acquisition) []string {
	var names []string
	for _, a := range acqs {
		names = append(names, r.ClientName(a))
	}
	slices.Sort(names)
	return slices.Compact(names)
}
