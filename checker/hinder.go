package checker

import (
	"cmp"
	"slices"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// calmness finds, for each client, when nothing can have kept it from getting on.
type calmness struct {
	r        *run
	disturbs map[string][]span // by the host of the client's process
}

func (r *run) calmness() calmness { return calmness{r, map[string][]span{}} }

// of is when something may have hindered the client: a fault that struck it or the lock service, or
// its process did not run. What the machine did to a process it may have done to the servers.
func (c calmness) of(client int32) []span {
	r, host := c.r, ""
	if w := r.WorkerOf(client); w != nil {
		host = hostOf(w.Name)
	}
	if found, ok := c.disturbs[host]; ok {
		return found
	}
	var spans []span
	for i := range r.Faults {
		if f := &r.Faults[i]; f.Struck && r.strikes(f, host) {
			spans = append(spans, f.Span())
		}
	}
	for i := range r.Workers {
		w := &r.Workers[i]
		for _, q := range w.Silences {
			if hostOf(w.Name) == host || !r.frozeWorker(w, q) {
				spans = append(spans, q)
			}
		}
	}
	c.disturbs[host] = history.Union(spans)
	return c.disturbs[host]
}

// until is how long it is calm for the client from t on; t if it is not.
func (c calmness) until(client int32, t lb.Instant) lb.Instant {
	spans := c.of(client)
	i, _ := slices.BinarySearchFunc(spans, t, func(s span, t lb.Instant) int { return cmp.Compare(s.To, t) })
	if i == len(spans) {
		return Forever
	}
	return max(t, spans[i].From)
}

// strikes reports whether a fault may have struck the clients of a host, or whom they ask: one of its acts
// did, or it tells of none.
func (r *run) strikes(f *history.Fault, host string) bool {
	told := false
	for i := range r.Acts {
		a := &r.Acts[i]
		if a.Fault != f.Name || a.Begin > f.Healed || a.End < f.Strike {
			continue
		}
		if told = true; r.aims(a.Target, host) {
			return true
		}
	}
	return !told
}

// aims reports whether a target is more than other hosts' clients. A link has two sides, and
// where on one are clients only, nobody else is cut off.
func (r *run) aims(target, host string) bool {
	clientsOnly := false
	for _, side := range strings.FieldsFunc(target, func(c rune) bool { return c == '→' || c == '↔' }) {
		only := true
		for _, name := range strings.Split(side, "+") {
			h, ok := r.hostOfParty(strings.TrimSpace(name))
			only = only && ok
			if ok && h == host {
				return true
			}
		}
		clientsOnly = clientsOnly || only
	}
	return !clientsOnly
}

// hostOfParty is that of the process, or of the client, of that name.
func (r *run) hostOfParty(name string) (host string, ok bool) {
	for i := range r.Workers {
		if r.Workers[i].Name == name {
			return hostOf(name), true
		}
	}
	for i := range r.Clients {
		if w := r.WorkerOf(int32(i)); w != nil && r.Clients[i].Name == name {
			return hostOf(w.Name), true
		}
	}
	return "", false
}

// hostOf is what the names of a process and of those that are started again beside it or in its
// place, w1-2, have in common.
func hostOf(worker string) string {
	name := strings.TrimRight(worker, "0123456789")
	if name = strings.TrimSuffix(name, "-"); name+"-" == strings.TrimRight(worker, "0123456789") {
		return name
	}
	return worker
}
