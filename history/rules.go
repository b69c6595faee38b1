package history

import (
	"errors"
	"fmt"
	"strings"

	lb "github.com/lockbench/lockbench"
)

// filled are the fields that are not zero.
func filled(ev *Event) field {
	has := fieldT | fieldE
	set := func(f field, there bool) {
		if there {
			has |= f
		}
	}
	set(fieldOp, ev.Op != "")
	set(fieldClient, ev.Client != "")
	set(fieldLock, ev.Lock != "")
	set(fieldID, ev.ID != "")
	set(fieldResult, ev.Kind == KindReturn)
	set(fieldUntil, ev.Until != 0)
	set(fieldCall, ev.Call != 0)
	set(fieldWorker, ev.Worker != "")
	set(fieldTarget, ev.Target != "")
	set(fieldName, ev.Name != "")
	set(fieldPhase, ev.Phase != "")
	set(fieldSeq, ev.Seq != 0)
	set(fieldCopies, ev.Copies != nil)
	return has
}

// checkEvent refuses an event that makes no sense by itself. It has these fields.
func checkEvent(ev *Event, has field, odd string) error {
	need, known := needs[ev.Kind]
	if !known {
		return fmt.Errorf("unknown kind of event %q", ev.Kind)
	}
	if missing := need &^ has; missing != 0 {
		return fmt.Errorf("%s needs %s", a(ev.Kind), missing&-missing)
	}
	if empty := need & (fieldClient | fieldLock | fieldID | fieldName | fieldWorker | fieldTarget) &^ filled(ev); empty != 0 {
		return fmt.Errorf("%s needs %s, and it is empty", a(ev.Kind), empty&-empty)
	}
	switch {
	case ev.At < 0 || ev.At > maxInstant:
		return fmt.Errorf("t is %d, and not from 0 to 2^62", ev.At)
	case has&takes(ev.Kind)&fieldUntil != 0 && (ev.Until < 1 || ev.Until > maxInstant):
		return fmt.Errorf("until is %d, and not from 1 to 2^62", ev.Until)
	case has&takes(ev.Kind)&fieldCall != 0 && (ev.Call < 0 || ev.Call > maxInstant):
		return fmt.Errorf("call is %d, and not from 0 to 2^62", ev.Call)
	case has&takes(ev.Kind)&fieldCall != 0 && ev.Call > ev.At:
		return fmt.Errorf("call is after t: %d, %d", ev.Call, ev.At)
	}
	return checkWords(ev, odd)
}

// takes are the instants beside t that a kind has; those of others are ignored.
func takes(kind Kind) field {
	switch kind {
	case KindReturn:
		return fieldUntil
	case KindRenew:
		return fieldUntil | fieldCall
	case KindSilent:
		return fieldCall
	}
	return 0
}

// a is the kind with its article.
func a(kind Kind) string {
	if kind == KindEnd || kind == KindAct {
		return "an " + string(kind)
	}
	return "a " + string(kind)
}

func checkWords(ev *Event, odd string) error {
	switch ev.Kind {
	case KindCall, KindReturn:
		if opWords[ev.Op] == "" {
			return fmt.Errorf("op %q is neither acquire nor release", ev.Op)
		}
		if ev.Kind == KindCall {
			return nil
		}
		if int(ev.Result) >= len(lb.Answers) {
			return fmt.Errorf("result %q is not one of %s", odd, strings.Join(lb.Answers[:], ", "))
		}
		if ev.Op == OpAcquire && ev.Result > lb.AnswerUnknown {
			return fmt.Errorf("an acquire can't return %s: that is for releases", ev.Result)
		}
	case KindFault:
		if phaseWords[ev.Phase] == "" || ev.Phase == PhaseBegin || ev.Phase == PhaseEnd {
			return fmt.Errorf("phase %q is not one of strike, heal, healed", ev.Phase)
		}
	case KindAct:
		if ev.Phase != PhaseBegin && ev.Phase != PhaseEnd {
			return fmt.Errorf("phase %q is not one of begin, end", ev.Phase)
		}
	case KindRead, KindWrite:
		return checkCopies(ev, odd)
	}
	return nil
}

func checkCopies(ev *Event, odd string) error {
	check := func(name string, c *CopyEffect) error {
		switch d := c.Result; {
		case int(d) >= len(decisionNames):
			return fmt.Errorf("%s: result %q is not one of landed, refused, skipped", name, odd)
		case ev.Kind == KindWrite && d == NoDecision:
			return fmt.Errorf("%s: a write needs result", name)
		}
		return nil
	}
	err := errors.Join(check("plain", &ev.Copies.Plain), check("checked", &ev.Copies.Checked))
	if f := ev.Copies.Fenced; f != nil {
		err = errors.Join(err, check("fenced", f))
	}
	return err
}
