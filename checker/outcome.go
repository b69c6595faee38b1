package checker

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/english"
)

// A run with less than this proves nothing: the clients hardly met.
const (
	minSections  = 10
	minContended = 5
)

// conclude derives what it takes to be safe from the layers of one run.
func conclude(r *run, judged []Layer) Result {
	res := Result{Schema: history.Schema, Plan: r.plan, Layers: judged, Copies: r.copies,
		Sections: r.sections, Contended: r.contended, OutageMS: ms(time.Duration(r.outage)), Outage: r.outageTold,
		FirstViolationMS: -1, TookMS: ms(r.Last.Sub(r.Start)), StalledMS: ms(r.stalled()), Effect: r.effect(), Notes: r.Notes}
	if res.Copies == nil {
		res.Copies = map[string]Copy{}
	}
	if r.Error > 0 {
		res.ClockErrorMS = ms(time.Duration(r.Error))
		res.Notes = append(slices.Clip(res.Notes), fmt.Sprintf("its events have %s, and are put together within ±%v", english.Count(r.Clocks+1, "clock"), time.Duration(r.Error).Round(time.Microsecond)))
	}
	for _, l := range judged {
		if isClaim(l.Name) {
			if l.Verdict == Invalid {
				res.Claims = append(res.Claims, Unkept{l.Name, l.Summary})
			}
			continue
		}
		if l.Name == LayerToken && l.Verdict == Invalid {
			res.Claims = append(res.Claims, Unkept{claimFenced, l.Summary})
		}
		if l.Name != LayerOverstay && l.Name != LayerToken { // hazards; whether they hurt, the store says
			for _, f := range l.Findings {
				if at := ms(f.At.Sub(r.Start)); res.FirstViolationMS < 0 || at < res.FirstViolationMS {
					res.FirstViolationMS = at
				}
			}
		}
	}
	if told := misnamed(r); told != "" {
		res.Claims = append(res.Claims, Unkept{claimRequests, told})
	}
	c := conclusion{r: r, res: &res, layer: map[string]Layer{}}
	for _, l := range judged {
		c.layer[l.Name] = l
	}
	res.Outcome, res.Mechanism, res.Reason = c.outcome()
	return res
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

type conclusion struct {
	r     *run
	res   *Result
	layer map[string]Layer
}

// outcome is the cell of one run, and why. Harm that was seen stands, whatever
// else was missing: BROKEN and STUCK say what happened. The others say what it takes
// to be safe, and that takes every layer.
func (c *conclusion) outcome() (care lb.Outcome, how, reason string) {
	care = c.care()
	how, reason = c.harm()
	stuck, howStuck, whyStuck := c.stuck()
	switch {
	case care == lb.Safe && !stuck:
		if why := c.inconclusive(); why != "" {
			return lb.Inconclusive, "", why
		}
		return lb.Safe, "", c.distrust(c.spared())
	case stuck && care == lb.Safe:
		care, how, reason = lb.Stuck, howStuck, whyStuck
	case stuck && care != lb.Broken:
		care, how, reason = lb.Stuck, howStuck, fmt.Sprintf("%s; besides it took %s: %s", whyStuck, care, reason)
	case stuck:
		reason += "; and stuck: " + whyStuck
	case c.starved() != "":
		c.res.Starved = c.starved()
		return lb.Inconclusive, "", c.res.Starved + "; harm was seen: " + reason
	case care != lb.Broken:
		if why := c.undecided(); why != "" {
			return lb.Inconclusive, "", why + "; harm was seen: " + reason
		}
	}
	reason = c.distrust(reason)
	if c.faulty() && !c.res.Effect.Proven {
		reason += " (the fault had no measured effect)"
	}
	return care, how, reason
}

// stuck reports whether nobody could get a lock any more, or not for long, how and why.
func (c *conclusion) stuck() (is bool, how, why string) {
	layer := LayerProgress
	if !c.is(layer, Invalid) {
		layer = LayerWorkload
	}
	if f := c.finding(layer); f != nil {
		how = f.Mechanism
	}
	return layer == LayerProgress || c.leftBehind(), how, c.first(layer)
}

// leftBehind reports whether what the workload found is a lock that stayed taken: by somebody who
// uses it no more, or who waits for what is never given back.
func (c *conclusion) leftBehind() bool {
	own := c.finding(LayerWorkload)
	return own != nil && (own.Mechanism == lb.Ghost || own.Mechanism == lb.Deadlock)
}

// starved is how the machine, and no fault, made every writer outlive its lease, or "".
func (c *conclusion) starved() string {
	store := c.layer[LayerStore]
	if c.doubleGrant() || store.Count > len(store.Findings) {
		return ""
	}
	why := ""
	for _, f := range store.Findings {
		if f.starved == "" {
			return ""
		}
		why = f.starved
	}
	return why
}

// spared says what the lock did that did no harm because the work needs no lock, or "".
func (c *conclusion) spared() string {
	for _, layer := range []string{LayerBelief, LayerGrant} {
		if s := c.first(layer); s != "" {
			return "the work needs no lock, and so this did no harm: " + s
		}
	}
	return ""
}

// distrust adds to a reason that the tokens are no fence.
func (c *conclusion) distrust(reason string) string {
	if !c.is(LayerToken, Invalid) {
		return reason
	}
	if reason != "" {
		reason += "; "
	}
	return reason + "the fencing tokens can't be trusted: " + c.first(LayerToken)
}

func (c *conclusion) is(layer string, v Verdict) bool { return c.layer[layer].Verdict == v }

// doubleGrant reports whether the lock itself broke. No holder can see that by
// looking at its own lease.
func (c *conclusion) doubleGrant() bool {
	return c.is(LayerBelief, Invalid) || c.is(LayerGrant, Invalid)
}

// care is the weakest care with which the holders would have been safe.
func (c *conclusion) care() lb.Outcome {
	hurt := func(name string) bool { return c.res.Copies[name].Hurt() }
	fenced, offered := c.res.Copies[CopyFenced]
	fence := lb.Broken
	if offered && !fenced.Hurt() && !c.is(LayerToken, Invalid) {
		fence = lb.Fence
	}
	switch {
	case hurt(CopyPlain) && hurt(CopyChecked), c.doubleGrant() && !c.r.plan.Guarded:
		return fence
	case hurt(CopyPlain):
		return lb.Check
	case c.is(LayerWorkload, Invalid) && !c.leftBehind():
		return lb.Broken
	}
	return lb.Safe
}

// harm is the reason of whatever is not safe: the worst mechanism first. What the
// workload says of it in its own words comes right behind the mechanism; one that the
// workload itself names is the cause of the others.
func (c *conclusion) harm() (how, sentence string) {
	own, what := c.finding(LayerWorkload), ""
	if c.leftBehind() { // no harm to what is protected
		own = nil
	}
	for _, layer := range []string{LayerBelief, LayerGrant, LayerStore} {
		if f := c.finding(layer); f != nil {
			how, what = f.Mechanism, f.Sentence
			break
		}
	}
	if own != nil {
		if own.Mechanism != "" && how != "" && how != own.Mechanism {
			what = how + ": " + what
		}
		how, what = cmp.Or(own.Mechanism, how), joined(own.Sentence, what)
	}
	return how, led(how, what)
}

// joined are two sentences, either of which may be missing.
func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// led is a sentence led by its mechanism.
func led(mechanism, sentence string) string {
	if mechanism == "" {
		return sentence
	}
	return mechanism + ": " + sentence
}

// finding is a layer's first, nil if there is none.
func (c *conclusion) finding(layer string) *Finding {
	if fs := c.layer[layer].Findings; len(fs) > 0 {
		return &fs[0]
	}
	return nil
}

// first is a layer's first finding, led by its mechanism.
func (c *conclusion) first(layer string) string {
	if f := c.finding(layer); f != nil {
		return led(f.Mechanism, f.Sentence)
	}
	return ""
}

// undecided is why nothing can be claimed: a layer came to no verdict, or saw nothing of
// what the workload's verdict rests on, or the work failed.
func (c *conclusion) undecided() string {
	for _, l := range c.res.Layers {
		if l.Verdict == Undecided && !isClaim(l.Name) {
			return l.Name + " is undecided: " + l.Summary
		}
	}
	for _, name := range c.r.plan.Evidence {
		if l, ok := c.layer[name]; !ok {
			return "there is no layer " + name + ", which the verdict rests on"
		} else if l.Verdict == Vacuous {
			return name + " saw nothing, and the verdict rests on it: " + l.Summary + c.r.inVain()
		}
	}
	if n := len(c.r.Failures); n > 0 {
		f := &c.r.Failures[0]
		why := "the work failed " + english.Count(n, "time") + ": " + c.r.Clients[f.Client].Name + " at " + c.r.sec(f.At)
		if f.Note != "" {
			why += ": " + f.Note
		}
		return why
	}
	return ""
}

// inconclusive says why a run without harm proves nothing, or "".
func (c *conclusion) inconclusive() string {
	if why := c.undecided(); why != "" {
		return why
	}
	if why := unseen(c.r); why != "" {
		return why
	}
	if c.faulty() {
		if c.r.plan.Brief {
			return fmt.Sprintf("a fault was told to be over in less than a tenth of a lease of %v: what it does to leases and sessions takes longer", c.r.plan.TTL)
		}
		if strike, _, _ := c.r.faultTimes(); strike < 0 {
			return strings.TrimSuffix("the fault never struck: "+c.res.Effect.Measured, ": ")
		}
		if of := c.r.unproven(); len(of) > 0 {
			return fmt.Sprintf("%s of the list had no effect: %s", strings.Join(of, ", "), c.res.Effect.Measured)
		}
		if !c.res.Effect.Proven {
			return strings.TrimSuffix("the fault had no effect: "+c.res.Effect.Measured, ": ")
		}
	}
	if c.faulty() && !c.r.tried() {
		return "nobody else asked for the lock while the fault was in force: what it might have done was not seen"
	}
	if len(c.r.plan.Order) > 0 {
		return ""
	}
	if c.res.Sections < minSections || c.res.Contended < minContended {
		return fmt.Sprintf("too few contended sections: %s, and %s while another client relied on the lock%s", english.Count(c.res.Sections, "section"), english.Count(c.res.Contended, "acquire"), c.r.inVain())
	}
	return ""
}

// faulty reports whether something was meant to go wrong in this run.
func (c *conclusion) faulty() bool {
	return c.r.plan.Fault != "" && c.r.plan.Fault != "none" || len(c.r.Faults) > 0
}
