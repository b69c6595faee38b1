package main

import (
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/lockbench/lockbench/internal/cost"
)

// What commands gave, as --json has it.
const (
	aMatrix = `{"schema": 2, "cells": [
		{"algorithm": "slow", "fault": "none", "outcome": "SAFE", "runs": 10, "share": {"broke": 0, "of": 10, "low": 0, "high": 0.26}, "outage_ms": 40},
		{"algorithm": "slow", "fault": "slow-work", "outcome": "CHECK", "mechanism": "overstay", "runs": 10, "share": {"broke": 10, "of": 10, "low": 0.74, "high": 1}, "outage_ms": 3000, "claims": ["fair: no: 3 inversions"]},
		{"algorithm": "slow", "fault": "pause", "outcome": "BROKEN", "mechanism": "double grant", "runs": 10, "share": {"broke": 3, "of": 9, "low": 0.12, "high": 0.65}, "outage_ms": -1, "inconclusive": 1},
		{"algorithm": "slow", "fault": "cut", "outcome": "INCONCLUSIVE", "runs": 10, "share": {"broke": 0, "of": 0, "low": 0, "high": 1}, "outage_ms": -1},
		{"algorithm": "slow", "fault": "evict", "outcome": "n/a", "runs": 0, "outage_ms": -1},
		{"algorithm": "told", "fault": "none", "outcome": "SAFE", "runs": 5, "share": {"broke": 0, "of": 5, "low": 0, "high": 0.45}, "outage_ms": 40, "told": "3 rewards, 2 drawn more than once"}]}`
	aBench = `{"schema": 2, "cells": [
		{"algorithm": "a", "servers": "disk", "loop": "closed", "clients": 1, "locks": 1, "figures": {
			"cycle": {"unit": "ns", "values": [{"round": 0, "value": 2e6}, {"round": 1, "value": 3e6}], "median": 2.5e6, "low": 2e6, "high": 3e6},
			"outage": {"unit": "ns", "values": [{"round": 0, "value": 2e9}], "median": 2e9, "low": 2e9, "high": 2e9}}},
		{"algorithm": "a", "servers": "disk", "loop": "closed", "clients": 16, "locks": 1, "figures": {
			"handoffs": {"unit": "handoffs/s", "values": [{"round": 0, "value": 100}, {"round": 1, "value": 140}], "median": 120, "low": 100, "high": 140}}},
		{"algorithm": "b", "servers": "disk", "loop": "closed", "clients": 1, "locks": 1, "never": 3, "figures": {
			"cycle": {"unit": "ns", "values": [{"round": 0, "value": 1e6}, {"round": 1, "value": 1e6}], "median": 1e6, "low": 1e6, "high": 1e6}}}]}`
	someOrders = `{"plan": {"algorithm": "a"}, "classes": [{"class": [], "orders": 4, "outcomes": {"SAFE": 4}}, {"class": [{"what": "expiry", "times": 1}], "orders": 9, "outcomes": {"SAFE": 6, "CHECK": 2, "BROKEN": 1}}]}
		{"plan": {"algorithm": "b"}, "classes": [{"class": [], "orders": 1, "outcomes": {"INCONCLUSIVE": 1}}]}`
	aStudy = `{"schema": 1, "ensembles": [{"kind": "zookeeper", "servers": 4, "survives": 1, "splits": [
		{"few": {"servers": 1, "locks": false}, "many": {"servers": 3, "locks": true}}, {"few": {"servers": 2, "locks": false}, "many": {"servers": 2, "locks": false}}]}]}`
	someFacts = `{"schema": 1, "answers": [{"question": "counts", "facts": [{"name": "begins-at-one", "holds": true, "saw": "it began at 1"}]}, {"question": "broke", "failed": "it fell"}]}`
)

// allFacts are those of all four.
func allFacts(t *testing.T) *facts {
	t.Helper()
	all := &facts{}
	for verb, out := range map[string]string{"matrix": aMatrix, "bench": aBench, "explore": someOrders, "quorum": aStudy, "facts": someFacts} {
		f, err := read(verb, []byte(out))
		if err != nil {
			t.Fatal(verb, err)
		}
		all.Cells, all.Costs = append(all.Cells, f.Cells...), append(all.Costs, f.Costs...)
		all.Explored, all.Ensembles = append(all.Explored, f.Explored...), append(all.Ensembles, f.Ensembles...)
		if f.Asked != nil {
			all.Asked = f.Asked
		}
	}
	return all
}

// TestCondition: what the facts say of one condition, and how it is told.
func TestCondition(t *testing.T) {
	f := allFacts(t)
	for _, row := range []struct {
		condition string
		want      truth
		says      string
	}{
		{"{fact: counts/begins-at-one, holds: true}", yes, "it began at 1"},
		{"{fact: counts/begins-at-one, holds: false}", no, "it began at 1"},
		{"{fact: counts/ends, holds: true}", unknown, "counts/ends was not asked"},
		{"{fact: broke/falls, holds: true}", unknown, "was not asked"},
		{"{lock: slow, fault: none, is: SAFE}", yes, "slow × none: SAFE, harm in 0 of 10 runs (up to 26%)"},
		{"{lock: slow, fault: none, is: CHECK BROKEN}", no, "SAFE"},
		{"{lock: slow, fault: slow-work, is: CHECK BROKEN, every: true}", yes, "CHECK by overstay, harm in 10 of 10 runs (74% or more)"},
		{"{lock: slow, fault: slow-work, is: CHECK, by: double grant}", no, "overstay"},
		{"{lock: slow, fault: slow-work, keeps: fair}", no, "not fair"},
		{"{lock: slow, fault: none, keeps: fair}", yes, ", fair"},
		{"{lock: slow, fault: pause, is: BROKEN}", yes, "harm in 3 of 9 runs (12 to 65%), 1 more proved nothing"},
		{"{lock: slow, fault: pause, is: BROKEN, every: true}", no, "3 of 9"},
		{"{lock: slow, fault: none, tells: nothing of}", unknown, "says nothing"},
		{"{lock: told, fault: none, tells: each drawn once}", no, "the run that decides: 3 rewards, 2 drawn more than once"},
		{"{lock: told, fault: none, is: SAFE, tells: drawn more than once}", yes, "SAFE"},
		{"{lock: slow, fault: cut, is: SAFE}", unknown, "INCONCLUSIVE"},
		{"{lock: slow, fault: evict, is: SAFE}", unknown, "n/a"},
		{"{lock: quick, fault: none, is: SAFE}", unknown, "quick × none is missing"},
		{"{lock: slow, fault: slow-work, figure: outage, above: 2500ms}", yes, "longest outage 3 s"},
		{"{lock: slow, fault: slow-work, figure: outage, below: 2500ms}", no, "3 s"},
		{"{lock: a, figure: cycle, below: 3100us}", yes, "a, acquire and release, uncontended: 2.5 ms (2 ms to 3 ms)"},
		{"{lock: a, figure: cycle, below: 2500us}", unknown, "2.5 ms"}, // the bound lies within the interval
		{"{lock: a, figure: cycle, below: 2ms}", no, "2.5 ms"},
		{"{lock: a, figure: cycle, over: {lock: b}, above: '1.9'}", yes, "2.5 ms against 1 ms of b: 2.5 (2 to 3) times as much"},
		{"{lock: a, figure: cycle, over: {lock: b}, above: '2.2', below: '9'}", unknown, "2.5"},
		{"{lock: a, figure: handoffs, above: '90'}", yes, "120/s (100/s to 140/s)"},
		{"{lock: a, figure: handoffs, over: {clients: 64}, above: '1'}", unknown, "not measured"},
		{"{lock: a, figure: outage, below: 3s}", yes, "2 s"},
		{"{lock: b, figure: outage, below: 3s}", no, "after 3 of its holders' deaths nobody"},
		{"{lock: b, figure: outage, above: 3s}", yes, "nobody"},
		{"{lock: c, figure: cycle, below: 3s}", unknown, "missing"},
		{"{lock: a, orders: nothing, is: SAFE}", yes, "a, nothing: of 4 orders 4 SAFE"},
		{"{lock: a, orders: 1 expiry, is: SAFE CHECK}", no, "of 9 orders 1 BROKEN, 2 CHECK, 6 SAFE"},
		{"{lock: a, orders: 1 expiry, is: BROKEN}", yes, "1 BROKEN"},
		{"{lock: a, orders: 1 crash, is: SAFE}", unknown, "no order with 1 crash"},
		{"{lock: b, orders: nothing, is: SAFE}", unknown, "of 1 orders"}, // nobody can judge it
		{"{ensemble: zookeeper-4, survives: 1}", yes, "zookeeper-4 survives 1 crash"},
		{"{ensemble: zookeeper-4, survives: 2}", no, "survives 1"},
		{"{ensemble: zookeeper-4, split: 1, few: \"can't\", many: can}", yes, "split into 1 and 3: the 1 can't lock, the 3 can"},
		{"{ensemble: zookeeper-4, split: 2, many: can}", no, "the 2 can't"},
		{"{ensemble: zookeeper-4, split: 3, many: can}", unknown, "no such split"},
		{"{ensemble: etcd-4, survives: 1}", unknown, "not measured"},
	} {
		var c condition
		if err := yaml.UnmarshalWithOptions([]byte(row.condition), &c, yaml.Strict()); err != nil {
			t.Fatal(row.condition, err)
		}
		if err := c.check(); err != nil {
			t.Error(row.condition, err)
		}
		if got, says := c.on(f); got != row.want || !strings.Contains(says, row.says) {
			t.Errorf("%s: %d, %q; want %d, %q", row.condition, got, says, row.want, row.says)
		}
	}
}

// TestJudge: the verdict follows from what holds, and never from what is unknown.
func TestJudge(t *testing.T) {
	f := allFacts(t)
	holds := []condition{{Lock: "slow", Fault: "none", Is: "SAFE"}}
	fails := []condition{{Lock: "slow", Fault: "none", Is: "BROKEN"}}
	open := []condition{{Lock: "slow", Fault: "cut", Is: "SAFE"}}
	failsThough := append(fails, open...)
	for name, row := range map[string]struct {
		claim claim
		want  verdict
	}{
		"confirmed":                      {claim{Confirmed: holds, Refuted: fails}, confirmed},
		"refuted":                        {claim{Confirmed: fails, Refuted: holds}, refuted},
		"depends":                        {claim{Confirmed: fails, Depends: holds}, depends},
		"both hold":                      {claim{Confirmed: holds, Refuted: holds}, undecided},
		"none holds":                     {claim{Confirmed: fails, Refuted: fails}, undecided},
		"none holds, with an otherwise":  {claim{Confirmed: fails, Otherwise: refuted}, refuted},
		"holds, with an otherwise":       {claim{Confirmed: holds, Otherwise: refuted}, confirmed},
		"one unknown":                    {claim{Confirmed: open, Otherwise: refuted}, undecided},
		"one unknown of two that matter": {claim{Confirmed: append(holds, open...), Otherwise: refuted}, undecided},
		"one unknown that can't help":    {claim{Confirmed: failsThough, Otherwise: refuted}, refuted},
		"one unknown beside what holds":  {claim{Confirmed: holds, Refuted: open}, confirmed},
		"what a listing shows":           {claim{Reading: refuted, Because: "it throws nothing"}, refuted},
	} {
		if got := judge(row.claim, f); got.verdict != row.want {
			t.Errorf("%s: %s; want %s", name, got.verdict, row.want)
		}
	}
	if got := judge(claim{Confirmed: holds, Otherwise: refuted}, nil); got.verdict != notRun {
		t.Errorf("without an outcome: %s", got.verdict)
	}
}

// TestKeep: of a benchmark only what somebody asks for is kept.
func TestKeep(t *testing.T) {
	f := allFacts(t)
	f.keep([]cost.Measure{cost.Cycle})
	if f.cost(cost.Uncontended("a", cost.Disk)).Figures[cost.Cycle] == nil || f.cost(cost.Contended("a", cost.Disk)) != nil {
		t.Errorf("%+v", f.Costs)
	}
}

// TestRead: what measured nothing is an error, and no outcome.
func TestRead(t *testing.T) {
	for verb, out := range map[string]string{"matrix": `{"cells": []}`, "bench": "", "explore": "", "quorum": `{}`, "list": `{}`, "run": "{"} {
		if f, err := read(verb, []byte(out)); err == nil {
			t.Errorf("%s of %q: %+v", verb, out, f)
		}
	}
}
