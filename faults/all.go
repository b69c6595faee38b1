package faults

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// beforeWrite is the moment that no client can guard: it has looked at its lease and is
// about to write.
const beforeWrite = "before-write"

// All returns the faults in the order of the matrix's columns. Those that strike
// at a step stand here with the step that matters most to each; [Find] takes any.
func All() []Fault {
	return []Fault{
		none(),
		pauseHolder(),
		pauseClient(),
		killHolder(),
		cutHolder(),
		at(kill(), "after-setnx"),
		at(pause(), beforeWrite),
		slowWork(),
		clientAhead(),
		clientBehind(),
		clientDrift(),
		lostGrant(),
		lateGrant(),
		loseReply(),
		resetGrant(),
		resetReply(),
		cutRejoin(),
		expireWaiter(),
		cutLeader(),
		cutHalves(),
		killLeader(),
		pauseLeader(),
		failover(),
		failoverUnreplicated(),
		killTwo(),
		restartServer(),
		restartEmpty(),
		serverAhead(),
		serverDrift(),
		cutTwoRestartEmpty(),
		cutTwoServerClock(),
		flushAll(),
		evict(),
		outOfMemory(),
		killSession(),
		releaseTwice(),
	}
}

// More are the faults that are no columns of the matrix: those that ask for a step, and
// those that are for soaking.
func More() []Fault {
	return []Fault{
		pause(), kill(), cut(), slowReply(), killServer(),
		oneWayCut(), flappingLink(), lossyLink(), reconnectStorm(),
		deafLeader(), slowServer(),
		expire(), expireHolder(), expireAll(), expireLine(),
		restartHolder(), twinHolder(), sharedSession(),
		clientFast(), clientCreep(), clientAheadFromStart(), clientBehindFromStart(),
		serverBehind(),
		evictTTL(),
		scriptFlush(),
		idleHolder(),
		snapshot(),
		sentinelReset(),
		failoverSilent(), failoverByCommand(),
		rollingRestart(),
		replaceMember(),
		compact(),
		noSpace(),
		defrag(),
		diskFull(),
		diskStall(),
		schemaChange(),
		random(), soak(),
	}
}

// Find reads a fault out of all, such as pause-holder, pause@before-write,
// cut@after-create/0.7ttl or kill-leader/3s: a name, at a step where it strikes a
// client, for as long as is told. Several with commas between them are a list, which strikes
// in its order.
func Find(all []Fault, text string) (Fault, error) {
	if !strings.Contains(text, ",") {
		return find(all, text)
	}
	var list []Fault
	for one := range strings.SplitSeq(text, ",") {
		f, err := find(all, strings.TrimSpace(one))
		if err != nil {
			return Fault{}, err
		}
		list = append(list, f)
	}
	return listed(list)
}

func find(all []Fault, text string) (Fault, error) {
	byName := func(name string) (Fault, bool) {
		i := slices.IndexFunc(all, func(f Fault) bool { return f.Name == name })
		if i < 0 {
			return Fault{}, false
		}
		return all[i], true
	}
	if f, ok := byName(text); ok { // a column with its step in its name
		return f, nil
	}
	rest, length, long := strings.Cut(text, "/")
	name, step, stepped := strings.Cut(rest, "@")
	f, ok := byName(name)
	switch {
	case !ok:
		return f, &UnknownError{name}
	case stepped && f.At == AtTakes:
		return f, fmt.Errorf("%s strikes at the request that takes the lock: leave out @%s, or see lose-reply", name, step)
	case stepped && f.At == "":
		return f, fmt.Errorf("%s strikes at no step: leave out @%s", name, step)
	case stepped && step == "":
		return f, fmt.Errorf("%s: name a step behind the @", text)
	case stepped:
		f = at(f, step)
	}
	if long {
		l, err := ParseLength(length)
		if err != nil {
			return f, fmt.Errorf("%s: %w", text, err)
		}
		f.Lasts, f.Name = l, f.Name+"/"+length
	}
	return f, nil
}

// UnknownError is a name that no fault has.
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string { return fmt.Sprintf("unknown fault %q", e.Name) }

// ParseLength reads some leases, such as 0.7ttl, or a time, such as 3s.
func ParseLength(s string) (Length, error) {
	if leases, ok := strings.CutSuffix(s, "ttl"); ok {
		n, err := strconv.ParseFloat(leases, 64)
		if err == nil && n > 0 && n <= 1000 {
			return Length{TTLs: n}, nil
		}
	} else if d, err := time.ParseDuration(s); err == nil && d > 0 {
		return Length{Time: d}, nil
	}
	return Length{}, fmt.Errorf("length %q is neither leases, such as 0.7ttl, nor a time, such as 3s", s)
}

// at is a fault that strikes at another step.
func at(f Fault, step string) Fault {
	f.At, f.Name = step, f.Name+"@"+step
	return f
}

// named is a fault under a name of its own.
func named(f Fault, name, doc, at string, needs ...Need) Fault {
	f.Name, f.Doc, f.At, f.Needs = name, cmp.Or(doc, f.Doc), at, append(needs, f.Needs...)
	return f
}
