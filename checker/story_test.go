package checker

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// story writes small histories; times are milliseconds.
type story struct {
	plan   history.Plan
	events history.Events
	seq    uint64
	values map[string]int64
}

func tell(plan history.Plan) *story {
	plan.Algorithm, plan.TTL = "sample", time.Second
	return &story{plan: plan, values: map[string]int64{}}
}

func at(ms int) lb.Instant {
	return lb.Instant(ms+1000) * lb.Instant(time.Millisecond)
}

func (s *story) add(t int, e history.Event) *story {
	e.At = at(t)
	s.events = append(s.events, e)
	return s
}

func (s *story) acquire(client, id string, call, ret int, e history.Event) *story {
	e.Kind, e.Op, e.Client, e.ID = history.KindCall, history.OpAcquire, client, id
	e.Lock = cmp.Or(e.Lock, "l")
	result := e.Result
	e.Result = 0
	s.add(call, e)
	e.Kind, e.Result = history.KindReturn, result
	return s.add(ret, e)
}

// granted is an acquire with a lease; until 0 is none.
func (s *story) granted(client, id string, call, ret, until int) *story {
	e := history.Event{}
	if until > 0 {
		e.Until = at(until)
	}
	return s.acquire(client, id, call, ret, e)
}

func (s *story) release(client, id string, call, ret int, result lb.Answer) *story {
	e := history.Event{Kind: history.KindCall, Op: history.OpRelease, Client: client, Lock: "l", ID: id}
	s.add(call, e)
	e.Kind, e.Result = history.KindReturn, result
	return s.add(ret, e)
}

// read returns what was read, for the write that follows.
func (s *story) read(t int, client, id string) map[string]int64 {
	s.access(t, history.KindRead, client, id, s.copies(nil, nil))
	return map[string]int64{CopyPlain: s.values[CopyPlain], CopyChecked: s.values[CopyChecked], CopyFenced: s.values[CopyFenced]}
}

// write does to the copies what results say; plain always lands.
func (s *story) write(t int, client, id string, base map[string]int64, checked, fenced history.Decision) *story {
	results := map[string]history.Decision{CopyPlain: history.Landed, CopyChecked: checked, CopyFenced: fenced}
	return s.access(t, history.KindWrite, client, id, s.copies(base, results))
}

func (s *story) access(t int, kind history.Kind, client, id string, c *history.CopyEffects) *story {
	s.seq++
	return s.add(t, history.Event{Kind: kind, Client: client, Lock: "l", ID: id, Seq: s.seq, Copies: c})
}

func (s *story) copies(base map[string]int64, results map[string]history.Decision) *history.CopyEffects {
	one := func(name string) history.CopyEffect {
		e := history.CopyEffect{Value: s.values[name], Base: base[name], Result: results[name]}
		if e.Result == history.Landed {
			e.New = e.Base + 1
			s.values[name] = e.New
		}
		return e
	}
	c := &history.CopyEffects{Plain: one(CopyPlain), Checked: one(CopyChecked)}
	if s.plan.Traits.Fenced {
		fenced := one(CopyFenced)
		c.Fenced = &fenced
	}
	return c
}

// busy adds n contended sections of 10 ms each from t on; it makes a run
// conclusive.
func (s *story) busy(t, n int) *story {
	for i := range n {
		client, id := fmt.Sprintf("w%d.c0", 5+i%3), fmt.Sprintf("busy-%d-%d", t, i)
		start := t + 10*i
		e := history.Event{Until: at(start + 1000)}
		if s.plan.Traits.Fenced {
			e.Token = uint64(t + i + 1)
		}
		s.acquire(client, id, start-8, start+1, e)
		fenced := history.NoDecision
		if s.plan.Traits.Fenced {
			fenced = history.Landed
		}
		s.write(start+3, client, id, s.read(start+2, client, id), history.Landed, fenced)
		s.release(client, id, start+4, start+5, lb.AnswerOK)
	}
	return s
}

// fault strikes and is healed.
func (s *story) fault(strike, healed int, proven bool) *story {
	s.plan.Fault = cmp.Or(s.plan.Fault, "some-fault")
	return s.struck(s.plan.Fault, strike, healed, proven)
}

// healing is when the healing of the fault began.
func (s *story) healing(t int) *story {
	return s.add(t, history.Event{Kind: history.KindFault, Name: s.plan.Fault, Phase: history.PhaseHeal})
}

// struck is a fault of several.
func (s *story) struck(name string, strike, healed int, proven bool) *story {
	e := history.Event{Kind: history.KindFault, Name: name, Phase: "strike"}
	s.add(strike, e)
	e.Phase, e.Proven, e.Note = "healed", proven, "measured"
	return s.add(healed, e)
}

func (s *story) end(t int) *story { return s.add(t, history.Event{Kind: history.KindEnd}) }

func (s *story) check() Result { return judge(s.plan, s.events) }

// judge checks events that make sense. It panics where they don't: then the test is
// wrong.
func judge(plan history.Plan, h history.Events) Result {
	return Check(context.Background(), plan, indexed(h))
}

func indexed(h history.Events) *history.Index {
	ix, err := history.Of(h)
	if err != nil {
		panic(err)
	}
	return ix
}

func layerOf(r Result, name string) Layer {
	i := slices.IndexFunc(r.Layers, func(l Layer) bool { return l.Name == name })
	return r.Layers[i]
}
