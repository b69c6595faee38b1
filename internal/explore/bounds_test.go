package explore

import (
	"strings"
	"testing"
)

func TestBoundsCheck(t *testing.T) {
	if err := Default.Check(); err != nil {
		t.Error(err)
	}
	for name, c := range map[string]struct {
		change func(b *Bounds)
		wrong  string // "" where nothing is
	}{
		"one client":       {func(b *Bounds) { b.Clients = 1 }, "clients 1: from 2 to 3"},
		"three clients":    {func(b *Bounds) { b.Clients = 3 }, ""},
		"four clients":     {func(b *Bounds) { b.Clients = 4 }, "clients 4: from 2 to 3"},
		"no acquisition":   {func(b *Bounds) { b.Acquisitions = 0 }, "acquisitions 0: from 1 to 9"},
		"ten acquisitions": {func(b *Bounds) { b.Acquisitions = 10 }, "acquisitions 10: from 1 to 9"},
		"never again":      {func(b *Bounds) { b.Polls = 0 }, ""},
		"less than never":  {func(b *Bounds) { b.Polls = -1 }, "polls -1: from 0 to 9"},
		"renewals":         {func(b *Bounds) { b.Renewals = 10 }, "renewals 10: from 0 to 9"},
		"expiries":         {func(b *Bounds) { b.Expiries = -1 }, "expiries -1: from 0 to 9"},
		"crashes":          {func(b *Bounds) { b.Crashes = 3 }, "crashes 3: from 0 to 2"},
		"ended":            {func(b *Bounds) { b.Ended = -1 }, "ended -1: from 0 to 9"},
		"lost":             {func(b *Bounds) { b.Lost = 10 }, "lost 10: from 0 to 9"},
		"faults":           {func(b *Bounds) { b.Faults = 10 }, "faults 10: from 0 to 9"},
		"no faults":        {func(b *Bounds) { b.Faults = 0 }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := Default
			c.change(&b)
			switch err := b.Check(); {
			case c.wrong == "" && err != nil:
				t.Error(err)
			case c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)):
				t.Errorf("%v, want %s", err, c.wrong)
			}
		})
	}
}

func TestBoundsString(t *testing.T) {
	for name, c := range map[string]struct {
		b      Bounds
		want   string
		levels int
	}{
		"those of who asks for none": {Default,
			"2 clients, 2 acquisitions each, 1 time to ask again after a change, 1 renewal each, at most one expiry, crash or lost reply", 1},
		"no faults": {Bounds{Clients: 2, Acquisitions: 1, Expiries: 1, Crashes: 1, Lost: 1},
			"2 clients, 1 acquisition each, 0 times to ask again after a change, 0 renewals each, nothing going wrong", 0},
		"none to be had": {Bounds{Clients: 3, Acquisitions: 1, Polls: 2, Renewals: 2, Faults: 3},
			"3 clients, 1 acquisition each, 2 times to ask again after a change, 2 renewals each, nothing going wrong", 0},
		"several": {Bounds{Clients: 2, Acquisitions: 1, Polls: 1, Renewals: 1, Expiries: 2, Lost: 1, Faults: 3},
			"2 clients, 1 acquisition each, 1 time to ask again after a change, 1 renewal each, at most 3 faults (at most 2 expiries, 1 lost reply)", 3},
		"ended": {Bounds{Clients: 2, Acquisitions: 1, Polls: 1, Ended: 1, Faults: 1},
			"2 clients, 1 acquisition each, 1 time to ask again after a change, 0 renewals each, at most one ended session", 1},
		"fewer than that": {Bounds{Clients: 2, Acquisitions: 1, Polls: 1, Renewals: 1, Crashes: 1, Faults: 3},
			"2 clients, 1 acquisition each, 1 time to ask again after a change, 1 renewal each, at most one crash", 1},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.b.String(); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
			if got := c.b.levels(); got != c.levels {
				t.Errorf("up to %d faults, want %d", got, c.levels)
			}
		})
	}
}

func TestBoundsAllow(t *testing.T) {
	dies, expires, loses := Move{Client: "c1", Do: Dies}, Move{Do: Expires}, Move{Client: "c2", Do: Loses}
	two := Bounds{Expiries: 2, Crashes: 1, Faults: 2}
	for name, c := range map[string]struct {
		b    Bounds
		had  []Move
		m    Move
		want bool
	}{
		"the first":            {two, nil, dies, true},
		"a second":             {two, []Move{dies}, expires, true},
		"the same again":       {two, []Move{expires}, expires, true},
		"too many of one kind": {two, []Move{dies}, dies, false},
		"none of that kind":    {two, nil, loses, false},
		"too many":             {two, []Move{expires, dies}, expires, false},
		"another client's":     {two, []Move{dies}, Move{Client: "c2", Do: Dies}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.b.allows(c.had, c.m); got != c.want {
				t.Error(got)
			}
		})
	}
}

// TestClassOf: what went wrong is counted, in one sequence whatever came first, and there are words for it.
func TestClassOf(t *testing.T) {
	dies, expires, loses := Move{Client: "c1", Do: Dies}, Move{Do: Expires}, Move{Client: "c2", Do: Loses}
	for want, moves := range map[string][]Move{
		"nothing":                    {{Client: "c1", Do: Works}},
		"1 crash":                    {{Client: "c1", Do: Works}, dies},
		"2 expiries":                 {expires, expires},
		"2 crashes":                  {dies, dies},
		"1 expiry and 1 crash":       {dies, expires},
		"1 crash and 2 lost replies": {loses, dies, loses},
	} {
		if got := classOf(moves).String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
