package checker

import (
	"fmt"
	"strings"
	"time"

	"github.com/lockbench/lockbench"
)

// A run with less than this proves nothing: the clients hardly met.
const (
	minSections  = 10
	minContended = 5
)

// conclude derives what it takes to be safe from the layers of one run.
func conclude(r *run, judged []lockbench.Layer) lockbench.RunResult {
	res := lockbench.RunResult{Schema: lockbench.Schema, Plan: r.plan, Layers: judged, Copies: r.copies,
		Sections: r.sections, Contended: r.contended, OutageMS: ms(time.Duration(r.outage)), FirstViolationMS: -1, Effect: r.effect(), Notes: r.Notes}
	if res.Copies == nil {
		res.Copies = map[string]lockbench.Copy{}
	}
	for _, l := range judged {
		if l.Name != LayerOverstay && l.Name != LayerToken { // hazards; whether they hurt, the store says
			for _, f := range l.Findings {
				if at := ms(f.At.Sub(r.Start)); res.FirstViolationMS < 0 || at < res.FirstViolationMS {
					res.FirstViolationMS = at
				}
			}
		}
	}
	c := conclusion{r: r, res: &res, layer: map[string]lockbench.Layer{}}
	for _, l := range judged {
		c.layer[l.Name] = l
	}
	res.Outcome, res.Reason = c.outcome()
	return res
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

type conclusion struct {
	r     *run
	res   *lockbench.RunResult
	layer map[string]lockbench.Layer
}

// outcome is the cell of one run, and why. Harm that was seen stands, whatever
// else was missing: BROKEN and STUCK say what happened. The others say what it takes
// to be safe, and that takes every layer.
func (c *conclusion) outcome() (lockbench.Outcome, string) {
	care, reason := c.care(), c.harm()
	stuck := c.is(LayerProgress, lockbench.Invalid)
	switch {
	case care == lockbench.Safe && !stuck:
		if why := c.inconclusive(); why != "" {
			return lockbench.Inconclusive, why
		}
		return lockbench.Safe, c.distrust("")
	case stuck && care == lockbench.Safe:
		care, reason = lockbench.Stuck, c.first(LayerProgress)
	case stuck && care != lockbench.Broken:
		care, reason = lockbench.Stuck, fmt.Sprintf("%s; besides it took %s: %s", c.first(LayerProgress), care, reason)
	case stuck:
		reason += "; and stuck: " + c.first(LayerProgress)
	case care != lockbench.Broken:
		if why := c.undecided(); why != "" {
			return lockbench.Inconclusive, why + "; harm was seen: " + reason
		}
	}
	reason = c.distrust(reason)
	if c.faulty() && !c.res.Effect.Bit {
		reason += " (the fault had no measured effect)"
	}
	return care, reason
}

// distrust adds to a reason that the tokens are no fence.
func (c *conclusion) distrust(reason string) string {
	if !c.is(LayerToken, lockbench.Invalid) {
		return reason
	}
	if reason != "" {
		reason += "; "
	}
	return reason + "the fencing tokens can't be trusted: " + c.first(LayerToken)
}

func (c *conclusion) is(layer string, v lockbench.Verdict) bool { return c.layer[layer].Verdict == v }

// doubleGrant reports whether the lock itself broke. No holder can see that by
// looking at its own lease.
func (c *conclusion) doubleGrant() bool {
	return c.is(LayerBelief, lockbench.Invalid) || c.is(LayerGrant, lockbench.Invalid)
}

// care is the weakest care with which the holders would have been safe.
func (c *conclusion) care() lockbench.Outcome {
	hurt := func(name string) bool { return c.res.Copies[name].Hurt() }
	fenced, offered := c.res.Copies[CopyFenced]
	fence := lockbench.Broken
	if offered && !fenced.Hurt() && !c.is(LayerToken, lockbench.Invalid) {
		fence = lockbench.Fence
	}
	switch {
	case hurt(CopyPlain) && hurt(CopyChecked), c.doubleGrant():
		return fence
	case hurt(CopyPlain):
		return lockbench.Check
	}
	return lockbench.Safe
}

// harm is the reason of whatever is not safe: the worst mechanism first.
func (c *conclusion) harm() string {
	for _, layer := range []string{LayerBelief, LayerGrant, LayerStore} {
		if s := c.first(layer); s != "" {
			return s
		}
	}
	return ""
}

// first is a layer's first finding, led by its mechanism.
func (c *conclusion) first(layer string) string {
	fs := c.layer[layer].Findings
	if len(fs) == 0 {
		return ""
	}
	f := fs[0]
	if f.Mechanism == "" {
		return f.Sentence
	}
	return f.Mechanism + ": " + f.Sentence
}

// undecided is why nothing can be claimed: a layer came to no verdict.
func (c *conclusion) undecided() string {
	for _, l := range c.res.Layers {
		if l.Verdict == lockbench.Undecided {
			return l.Name + " is undecided: " + l.Summary
		}
	}
	return ""
}

// inconclusive says why a run without harm proves nothing, or "".
func (c *conclusion) inconclusive() string {
	if why := c.undecided(); why != "" {
		return why
	}
	if c.faulty() {
		if strike, _, _ := c.r.faultTimes(); strike < 0 {
			return strings.TrimSuffix("the fault never struck: "+c.res.Effect.Measured, ": ")
		}
		if !c.res.Effect.Bit {
			return strings.TrimSuffix("the fault had no effect: "+c.res.Effect.Measured, ": ")
		}
	}
	if c.res.Sections < minSections || c.res.Contended < minContended {
		return fmt.Sprintf("too few contended sections: %s, of which %d contended", count(c.res.Sections, "section"), c.res.Contended)
	}
	return ""
}

// faulty reports whether something was meant to go wrong in this run.
func (c *conclusion) faulty() bool {
	return c.r.plan.Fault != "" && c.r.plan.Fault != "none" || len(c.r.Faults) > 0
}

// effect is what the healed faults measured about themselves.
func (r *run) effect() lockbench.Effect {
	var out lockbench.Effect
	for i := range r.Faults {
		f := &r.Faults[i]
		out.Bit = out.Bit || f.Bit
		if out.Measured != "" && f.Note != "" {
			out.Measured += "; "
		}
		out.Measured += f.Note
	}
	return out
}
