package reports

import (
	"fmt"
	"math/rand/v2"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
)

// tape writes histories for the tests. Times are in milliseconds since the
// start of the run.
type tape struct {
	h     history.Events
	ids   int
	seq   uint64
	value int64 // of the plain copy
	token uint64
}

const bootTime = lb.Instant(7_000_000_000_000)

func at(ms float64) lb.Instant { return bootTime + lb.Instant(ms*1e6) }

func (t *tape) add(ms float64, e history.Event) {
	e.At = at(ms)
	t.h = append(t.h, e)
}

// hold is one acquisition being written.
type hold struct {
	*tape
	id, client string
	token      uint64
	base       int64
}

func (t *tape) call(ms float64, client string) *hold {
	t.ids++
	h := &hold{tape: t, id: fmt.Sprintf("a%d", t.ids), client: client}
	h.event(ms, history.Event{Kind: history.KindCall, Op: history.OpAcquire})
	return h
}

func (h *hold) event(ms float64, e history.Event) {
	e.Client, e.Lock, e.ID = h.client, "stock", h.id
	h.add(ms, e)
}

// grant gives a lease until the given time, 0 for none.
func (h *hold) grant(ms, until float64) *hold {
	e := history.Event{Kind: history.KindReturn, Op: history.OpAcquire, Result: lb.AnswerOK}
	if until > 0 {
		e.Until = at(until)
	}
	if h.tape.token > 0 {
		h.tape.token++
		h.token = h.tape.token
		e.Token = h.token
	}
	h.event(ms, e)
	return h
}

func (h *hold) answer(ms float64, r lb.Answer) *hold {
	h.event(ms, history.Event{Kind: history.KindReturn, Op: history.OpAcquire, Result: r})
	return h
}

func (h *hold) read(ms float64) *hold {
	h.base = h.value
	h.access(ms, history.KindRead, history.CopyEffects{Plain: history.CopyEffect{Value: h.value}, Checked: history.CopyEffect{Value: h.value}})
	return h
}

// write lands in the plain copy; a look at the lease skips the checked one, and
// the fenced one, if the lock has tokens, refuses.
func (h *hold) write(ms float64, expired bool) *hold {
	plain := history.CopyEffect{Value: h.value, Base: h.base, New: h.base + 1, Result: history.Landed}
	c := history.CopyEffects{Plain: plain, Checked: plain}
	if expired {
		c.Checked.Result = history.Skipped
	}
	if h.token > 0 {
		f := plain
		if h.token < h.tape.token {
			f.Result = history.Refused
		}
		c.Fenced = &f
	}
	h.value = h.base + 1
	h.access(ms, history.KindWrite, c)
	return h
}

func (h *hold) access(ms float64, k history.Kind, c history.CopyEffects) {
	h.seq++
	h.event(ms, history.Event{Kind: k, Seq: h.seq, Token: h.token, Copies: &c})
}

func (h *hold) renew(ms, until float64) *hold {
	h.event(ms, history.Event{Kind: history.KindRenew, Call: at(ms - 1), Until: at(until)})
	return h
}

func (h *hold) release(call, ret float64, r lb.Answer) *hold {
	h.event(call, history.Event{Kind: history.KindCall, Op: history.OpRelease})
	h.event(ret, history.Event{Kind: history.KindReturn, Op: history.OpRelease, Result: r})
	return h
}

func (t *tape) freeze(from, to float64, worker string) {
	t.add(to, history.Event{Kind: history.KindSilent, Worker: worker, Call: at(from)})
}

func (t *tape) fault(name string, strike, heal, healed float64, note string) {
	t.add(strike, history.Event{Kind: history.KindFault, Name: name, Phase: "strike"})
	t.add(heal, history.Event{Kind: history.KindFault, Name: name, Phase: "heal"})
	t.add(healed, history.Event{Kind: history.KindFault, Name: name, Phase: "healed", Proven: true, Note: note})
}

// act is what the bench did to a process.
func (t *tape) act(name, target string, begin, end float64, note string) {
	t.add(begin, history.Event{Kind: history.KindAct, Name: name, Target: target, Phase: "begin"})
	t.add(end, history.Event{Kind: history.KindAct, Name: name, Target: target, Phase: "end", Note: note})
}

// busy lets the clients hold the lock in turn from one time to another, each
// waiting since its last release.
func (t *tape) busy(from, to, ttl float64, r *rand.Rand, clients ...string) {
	free := make(map[string]float64)
	for now := from; now < to; {
		c := clients[r.IntN(len(clients))]
		call := max(free[c], from) + .05
		if call > now {
			now = call
		}
		got := now + .2 + r.Float64()*.9
		w := got + 1.5 + r.Float64()*2
		t.call(call, c).grant(got, got+ttl-12).read(got+.3).write(w, false).release(w+.2, w+.6, lb.AnswerOK)
		free[c] = w + .6
		now = w + .4
	}
}

func dice(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// overstay: a holder is frozen beyond its lease and writes when it wakes up.
func overstay(fenced bool) (history.Events, checker.Finding) {
	t := &tape{value: 37}
	if fenced {
		t.token = 30
	}
	t.busy(0, 400, 1000, dice(1), "w2.c0", "w2.c1", "w3.c0")
	t.fault("pause-holder", 404, 2909, 2910, "w1 did not run for 2.506 s, 2.5 times the TTL")
	t.act("freeze", "w1.c0", 404.1, 2909.5, "it was let go")
	a := t.call(398, "w1.c0").grant(402, 1390).read(402.6)
	t.freeze(404, 2910, "w1")
	t.busy(1401, 2911, 1000, dice(2), "w2.c0", "w2.c1", "w3.c0")
	last := t.h[len(t.h)-1].ID
	over := t.value
	a.write(2913, true).release(2913.4, 2914.1, lb.AnswerLost)
	t.busy(2915, 4000, 1000, dice(3), "w1.c0", "w2.c0", "w2.c1", "w3.c0")
	t.add(4001, history.Event{Kind: history.KindEnd})
	return t.h, checker.Finding{
		Layer: "store", Mechanism: lb.Overstay, At: at(2913), From: at(398), To: at(2915), IDs: []string{a.id, last}, Confirmed: true,
		Sentence: fmt.Sprintf("w1.c0 wrote %d over %d at 2.913 s: it had read %d at 0.403 s, its lease ended at 1.390 s, it was frozen from 0.404 s to 2.910 s; it undid %d updates by others",
			a.base+1, over, a.base, over-a.base),
	}
}

// lateDelete: a holder is slow, its lease ends, and its plain DEL frees the lock
// of the next holder, so that a third is granted it, too.
func lateDelete() (history.Events, checker.Finding) {
	t := &tape{value: 10}
	t.call(0, "w1.c0").grant(1, 90).read(4).write(96, true).release(97, 97.8, lb.AnswerOK)
	b := t.call(20, "w2.c0").grant(94, 184).read(95)
	c := t.call(40, "w3.c0").grant(98.6, 188).read(99.5)
	b.write(101, false).release(101.5, 102.2, lb.AnswerOK)
	c.write(104, false).release(104.5, 105.1, lb.AnswerOK)
	t.add(140, history.Event{Kind: history.KindEnd})
	return t.h, checker.Finding{
		Layer: "belief", Mechanism: lb.DoubleGrant, At: at(98.6), From: at(20), To: at(105.1), IDs: []string{b.id, c.id}, Confirmed: true,
		Sentence: "w2.c0 and w3.c0 both held the lock from 0.099 s to 0.101 s, each within its lease",
	}
}

// ghost: a client is killed between SETNX and EXPIRE, and the lock stays taken.
func ghost() (history.Events, checker.Finding) {
	t := &tape{value: 5}
	t.busy(0, 1200, 1000, dice(4), "w1.c0", "w2.c0", "w3.c0")
	a := t.call(1203, "w1.c0")
	a.event(1204.1, history.Event{Kind: history.KindStep, Name: "after-setnx"})
	t.add(1204.4, history.Event{Kind: history.KindDead, Worker: "w1"})
	t.fault("kill@after-setnx", 1204.2, 1704, 1705, "w1 was killed at after-setnx")
	for i, c := range []string{"w2.c0", "w3.c0"} {
		for ms := 1205.0 + 40*float64(i); ms < 6000; ms += 800 {
			t.call(ms, c).answer(ms+790, lb.AnswerFailed)
		}
	}
	t.add(6000, history.Event{Kind: history.KindEnd})
	return t.h, checker.Finding{
		Layer: "progress", Mechanism: lb.Ghost, At: at(1204.4), From: at(1203), To: at(6000), IDs: []string{a.id},
		Sentence: "nobody was granted the lock from 1.200 s to the end at 6.000 s; the last to ask before was w1.c0, killed at step after-setnx",
	}
}

// plain is a run in which nothing goes wrong. scale stretches the waiting.
func calm(seed uint64, scale float64) history.Events {
	t := &tape{}
	t.busy(0, 3000*scale, 1000, dice(seed), "w1.c0", "w1.c1", "w2.c0", "w2.c1", "w3.c0", "w3.c1")
	t.add(3000*scale+10, history.Event{Kind: history.KindEnd})
	return t.h
}

// renewedThenLost: a renewing holder is cut off, is told so, and stops; one
// renewal was confirmed only after the lease had ended.
func renewedThenLost() (history.Events, checker.Finding) {
	t := &tape{value: 70, token: 8}
	a := t.call(0, "w1.c0").grant(2, 100).read(4)
	a.renew(35, 135).renew(70, 170).renew(185, 240)
	a.event(230, history.Event{Kind: history.KindLost, Note: "session expired"})
	b := t.call(60, "w2.c1").grant(176, 276).read(177).write(180, false).release(181, 182, lb.AnswerOK)
	a.write(188, false).release(233, 234, lb.AnswerLost)
	return t.h, checker.Finding{Layer: "store", Mechanism: lb.Overstay, At: at(188), From: at(0), To: at(234),
		IDs: []string{a.id, b.id}, Sentence: "w1.c0 wrote though its lease had ended & \"been\" given to <another>"}
}

// strangeRelease: somebody else's release frees the lock of a holder who goes on
// relying on it, as it must: nobody told it.
func strangeRelease() (history.Events, checker.Finding) {
	t := &tape{value: 3}
	a := t.call(0, "w1.c0").grant(2, 100).read(3)
	stranger := &hold{tape: t, id: a.id, client: "w2.c0"}
	stranger.release(10, 11, lb.AnswerOK)
	b := t.call(5, "w3.c0").grant(14, 110).read(15).write(17, false).release(18, 19, lb.AnswerOK)
	a.write(30, false).release(31, 32, lb.AnswerLost)
	return t.h, checker.Finding{Layer: "belief", Mechanism: lb.DoubleGrant, Lock: "stock", At: at(14), From: at(0), To: at(18), IDs: []string{a.id, b.id},
		Sentence: "w1.c0 and w3.c0 both relied on the lock"}
}

// vanished: the lock service knows nothing of a grant that it gave.
func vanished() (history.Events, checker.Finding) {
	t := &tape{}
	t.fault("restart-empty", 20, 24, 25, "the server forgot everything")
	a := t.call(0, "w1.c0").grant(2, 100).read(3).write(33, false).release(34, 35, lb.AnswerLost)
	t.call(50, "w2.c0").grant(52, 150).release(60, 61, lb.AnswerOK)
	return t.h, checker.Finding{Layer: "grant", Mechanism: lb.VanishedGrant, Lock: "stock", At: at(35), From: at(0), To: at(35), IDs: []string{a.id},
		Sentence: "the lock was gone before its lease ended"}
}

// earlyRelease: a holder gives the lock back before its last write.
func earlyRelease() (history.Events, checker.Finding) {
	t := &tape{value: 8}
	a := t.call(0, "w1.c0").grant(2, 100).read(3).release(5, 6, lb.AnswerOK)
	b := t.call(4, "w2.c0").grant(8, 108).read(9).write(10, false)
	a.write(12, false)
	b.release(13, 14, lb.AnswerOK)
	return t.h, checker.Finding{Layer: "store", Mechanism: lb.EarlyRelease, Lock: "stock", At: at(12), From: at(0), To: at(12), IDs: []string{a.id, b.id},
		Sentence: "w1.c0 wrote though it had called release"}
}
