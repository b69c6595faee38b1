package checker

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// story writes small histories; times are milliseconds.
type story struct {
	plan   lockbench.Plan
	events lockbench.History
	seq    uint64
	values map[string]int64
}

func tell(plan lockbench.Plan) *story {
	plan.Algorithm, plan.TTL = "sample", time.Second
	return &story{plan: plan, values: map[string]int64{}}
}

func at(ms int) lockbench.Instant {
	return lockbench.Instant(ms+1000) * lockbench.Instant(time.Millisecond)
}

func (s *story) add(t int, e lockbench.Event) *story {
	e.At = at(t)
	s.events = append(s.events, e)
	return s
}

func (s *story) acquire(client, id string, call, ret int, e lockbench.Event) *story {
	e.Kind, e.Op, e.Client, e.ID = lockbench.KindCall, lockbench.OpAcquire, client, id
	e.Lock = cmp.Or(e.Lock, "l")
	result := cmp.Or(e.Result, lockbench.OK)
	e.Result = ""
	s.add(call, e)
	e.Kind, e.Result = lockbench.KindReturn, result
	return s.add(ret, e)
}

// granted is an acquire with a lease; until 0 is none.
func (s *story) granted(client, id string, call, ret, until int) *story {
	e := lockbench.Event{}
	if until > 0 {
		e.Until = at(until)
	}
	return s.acquire(client, id, call, ret, e)
}

func (s *story) release(client, id string, call, ret int, result lockbench.Result) *story {
	e := lockbench.Event{Kind: lockbench.KindCall, Op: lockbench.OpRelease, Client: client, Lock: "l", ID: id}
	s.add(call, e)
	e.Kind, e.Result = lockbench.KindReturn, result
	return s.add(ret, e)
}

// read returns what was read, for the write that follows.
func (s *story) read(t int, client, id string) map[string]int64 {
	s.access(t, lockbench.KindRead, client, id, s.copies(nil, nil))
	return map[string]int64{CopyPlain: s.values[CopyPlain], CopyChecked: s.values[CopyChecked], CopyFenced: s.values[CopyFenced]}
}

// write does to the copies what results say; plain always lands.
func (s *story) write(t int, client, id string, base map[string]int64, checked, fenced string) *story {
	results := map[string]string{CopyPlain: lockbench.Landed, CopyChecked: checked, CopyFenced: fenced}
	return s.access(t, lockbench.KindWrite, client, id, s.copies(base, results))
}

func (s *story) access(t int, kind lockbench.Kind, client, id string, c *lockbench.CopyEffects) *story {
	s.seq++
	return s.add(t, lockbench.Event{Kind: kind, Client: client, Lock: "l", ID: id, Seq: s.seq, Copies: c})
}

func (s *story) copies(base map[string]int64, results map[string]string) *lockbench.CopyEffects {
	one := func(name string) lockbench.CopyEffect {
		e := lockbench.CopyEffect{Value: s.values[name], Base: base[name], Result: results[name]}
		if e.Result == lockbench.Landed {
			e.New = e.Base + 1
			s.values[name] = e.New
		}
		return e
	}
	c := &lockbench.CopyEffects{Plain: one(CopyPlain), Checked: one(CopyChecked)}
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
		e := lockbench.Event{Until: at(start + 1000)}
		if s.plan.Traits.Fenced {
			e.Token = uint64(t + i + 1)
		}
		s.acquire(client, id, start-8, start+1, e)
		fenced := ""
		if s.plan.Traits.Fenced {
			fenced = lockbench.Landed
		}
		s.write(start+3, client, id, s.read(start+2, client, id), lockbench.Landed, fenced)
		s.release(client, id, start+4, start+5, lockbench.OK)
	}
	return s
}

// fault strikes and is healed.
func (s *story) fault(strike, healed int, bit bool) *story {
	s.plan.Fault = "some-fault"
	e := lockbench.Event{Kind: lockbench.KindFault, Name: s.plan.Fault, Phase: "strike"}
	s.add(strike, e)
	e.Phase, e.Bit, e.Note = "healed", bit, "measured"
	return s.add(healed, e)
}

func (s *story) end(t int) *story { return s.add(t, lockbench.Event{Kind: lockbench.KindEnd}) }

func (s *story) check() lockbench.RunResult { return judge(s.plan, s.events) }

// judge checks events that make sense. It panics where they don't: then the test is
// wrong.
func judge(plan lockbench.Plan, h lockbench.History) lockbench.RunResult {
	return Check(context.Background(), plan, indexed(h))
}

func indexed(h lockbench.History) *history.Index {
	ix, err := history.Of(h)
	if err != nil {
		panic(err)
	}
	return ix
}

func layerOf(r lockbench.RunResult, name string) lockbench.Layer {
	i := slices.IndexFunc(r.Layers, func(l lockbench.Layer) bool { return l.Name == name })
	return r.Layers[i]
}
