package checker

import (
	"fmt"
	"slices"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// starved tells of a client that wrote beyond its lease only because the machine did not
// let its process run, where no fault had stopped it: "" if that is not the reason. A
// lease that is renewed ends early if the renewals were starved, any other is outlived
// by no more than the time that was taken away.
// Clocks that err take no excuse away: it is enough if they leave one open.
func (r *run) starved(a *acquisition, wrote lb.Instant) string {
	for _, ended := range r.mayHaveEnded(a, wrote) {
		if why := r.starvedBehind(a, ended, wrote); why != "" {
			return why
		}
	}
	return ""
}

// mayHaveEnded is when the lease of a writer may have ended before it wrote, if it lived.
func (r *run) mayHaveEnded(a *acquisition, wrote lb.Instant) (ends []lb.Instant) {
	if r.Error == 0 {
		if ended, over := r.overstays(a, wrote); over {
			ends = append(ends, ended)
		}
		return ends
	}
	add := func(t lb.Instant) {
		if t > 0 && t < wrote+2*r.Error {
			ends = append(ends, t)
		}
	}
	if !a.Granted() || r.Dead(a) < wrote-4*r.Error-1 {
		return nil
	}
	add(a.Until)
	last := a.Until
	for rn := range r.Renewals(a) {
		add(rn.Until)
		last = max(last, rn.Until)
	}
	if last == 0 || a.Lost <= last+2*r.Error { // else it was told of the loss when its lease was over
		add(a.Lost)
	}
	return ends
}

func (r *run) starvedBehind(a *acquisition, ended, wrote lb.Instant) string {
	slack := 2 * r.Error
	last := max(a.Call, ended.Add(-r.plan.TTL)) // the lease was renewed then, or asked for
	late := span{From: last, To: wrote + slack}
	own := r.idle(a.Client, late)
	total := length(append(own, r.SilencesOf(history.Store)...), late)
	switch {
	case total == 0:
		return ""
	case wrote.Add(-total) <= ended+slack:
	case r.plan.Traits.Renewing && length(own, span{From: last, To: ended + slack}) > r.plan.TTL/4:
	default:
		return ""
	}
	who := "the process of " + r.who(a)
	switch length(own, late) {
	case 0:
		who = "the protected store"
	case total:
	default:
		who += ", or the protected store,"
	}
	told := ""
	if r.Error > 0 {
		told = ", as far as the clocks tell"
	}
	return fmt.Sprintf("%s did not run for %s, and no fault had stopped it%s: the machine was too busy", who, seconds(total), told)
}

// length is how much of s the spans are.
func length(spans []span, s span) time.Duration {
	return time.Duration(history.Length(history.Union(slices.Clone(spans)), s))
}

// idle are the stretches of s in which the client's process did not run although no fault
// had frozen it for certain.
func (r *run) idle(client int32, s span) (all []span) {
	for _, q := range r.SilentIn(client, s) {
		if sure := (span{From: q.From + 4*r.Error, To: q.To - 4*r.Error}); sure.From >= sure.To || !r.froze(client, sure) {
			all = append(all, q)
		}
	}
	return all
}

// stalled is the longest time that a process of the bench did not run although no fault
// had frozen it: what the machine itself did to the run.
func (r *run) stalled() (longest time.Duration) {
	for i := range r.Workers {
		for _, q := range r.Workers[i].Silences {
			if !r.frozeWorker(&r.Workers[i], q) {
				longest = max(longest, q.To.Sub(q.From))
			}
		}
	}
	return longest
}

// froze reports whether a fault made the silence q of a client's process.
func (r *run) froze(client int32, q span) bool {
	w := r.WorkerOf(client)
	return w != nil && r.frozeWorker(w, q)
}

// frozeWorker is [run.froze] of the process. A recorder that tells of no acts is trusted
// that its faults did what was done while they were in force.
func (r *run) frozeWorker(w *history.Worker, q span) bool {
	for i := range r.Acts {
		if a := &r.Acts[i]; a.Name == history.ActFreeze && q.Overlaps(span{From: a.Begin, To: a.End}) && r.houses(w, a.Target) {
			return true
		}
	}
	return len(r.Acts) == 0 && slices.ContainsFunc(r.Faults, func(f history.Fault) bool { return f.Struck && q.Overlaps(f.Span()) })
}

// houses reports whether w is the process of that name, or of the client of that name.
func (r *run) houses(w *history.Worker, name string) bool {
	return w.Name == name || slices.ContainsFunc(r.Clients, func(c history.Client) bool {
		return c.Name == name && c.Worker != history.None && &r.Workers[c.Worker] == w
	})
}

// silence tells of a time in which the client's process did not run.
func (r *run) silence(client int32, q span) string {
	how := "it was frozen"
	if !r.froze(client, q) {
		how = "its process did not run"
	}
	return how + " from " + r.sec(q.From) + " to " + r.sec(q.To)
}
