package checker

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// work is what a holder did to a copy: from what it read to the write that landed.
type work struct{ read, write *history.Access }

// crowds looks, in each copy, for who was at work beside as many as the semaphore has permits. That is what a stale write
// is to a lock of one: of two that are at work at once, one writes over what it has not read. Who did not come to its write, as
// one that was killed, or refrained from it, was not at work.
func (s *store) crowds() {
	type crowd struct {
		of     []work
		copies []string
	}
	var all []*crowd
	known := map[*history.Access]*crowd{}
	permits := s.run.plan.Traits.AtOnce()
	for copy, name := range copyNames {
		for lock := range s.run.Locks {
			reg, ok := s.regs[regKey{int32(lock), copy}]
			if !ok {
				continue
			}
			slices.SortFunc(reg.work, func(a, b work) int {
				return cmp.Or(cmp.Compare(a.read.Seq, b.read.Seq), cmp.Compare(a.write.Seq, b.write.Seq))
			})
			var latest []work // to end, of as many as there are permits
			for i, w := range reg.work {
				if i+1 < len(reg.work) && reg.work[i+1].read == w.read {
					continue // it went on, and wrote again
				}
				if len(latest) == permits && latest[permits-1].write.Seq > w.read.Seq {
					c := s.copies[name]
					c.Crowded++
					s.copies[name] = c
					if known[w.write] == nil {
						known[w.write] = &crowd{of: append(slices.Clone(latest), w)}
						all = append(all, known[w.write])
					}
					known[w.write].copies = append(known[w.write].copies, name)
				}
				at, _ := slices.BinarySearchFunc(latest, w, func(a, b work) int { return cmp.Compare(b.write.Seq, a.write.Seq) })
				latest = slices.Insert(latest, at, w)
				latest = latest[:min(len(latest), permits)]
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *crowd) int {
		return cmp.Compare(a.of[permits].read.Seq, b.of[permits].read.Seq)
	})
	for _, c := range all {
		s.found.add(func() Finding { return s.crowdFinding(c.of, c.copies) })
	}
}

// crowdFinding tells of some that were at work at once, the last of whom came last, and how that could be: one wrote though it
// did not rely on its permit any more, or all did rely on theirs.
func (s *store) crowdFinding(all []work, copies []string) Finding {
	r, last := s.run, all[len(all)-1]
	var acqs []*acquisition
	var names, why []string
	f := Finding{Mechanism: lb.DoubleGrant, At: last.read.At, From: last.read.At, To: last.write.At}
	for _, w := range all {
		a := &r.Acqs[w.write.Acq]
		acqs, names = append(acqs, a), append(names, r.who(a))
		f.From, f.To = min(f.From, a.Call, w.read.At), max(f.To, w.write.At)
		if r.outside(a, w.write.At) {
			why = append(why, fmt.Sprintf("%s wrote at %s, and %s", r.who(a), r.sec(w.write.At), s.excuse(a, w.write.At)))
			if how := s.trespass(a, w.write.At); len(why) == 1 {
				f.Mechanism, f.At = how, w.write.At
			}
		} else if !r.inside(a, last.read.At) && len(why) == 0 {
			f.Mechanism = "" // perhaps its lease had ended, and began again
		}
		if f.starved == "" {
			f.starved = r.starved(a, w.write.At)
		}
	}
	of := r.finding(acqs[0], acqs[1:]...)
	f.Lock, f.IDs = of.Lock, of.IDs
	f.Sentence = fmt.Sprintf("%s were at work at once at %s (%s), of %d who may", list(names), r.sec(last.read.At),
		strings.Join(copies, ", "), r.plan.Traits.AtOnce())
	if len(why) > 0 {
		f.Sentence += ": " + list(why)
	}
	return f
}
