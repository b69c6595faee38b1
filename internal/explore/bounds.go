package explore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/internal/english"
)

// Bounds are how far an exploration goes.
type Bounds struct {
	Clients int `json:"clients"`
	// Acquisitions of each client.
	Acquisitions int `json:"acquisitions"`
	// Polls is how often a client asks again for one acquisition, and Renewals how often each
	// client renews a lease in one order.
	Polls    int `json:"polls"`
	Renewals int `json:"renewals"`
	// Expiries, Crashes and Lost are how many leases end, clients die and answers are lost at
	// most in one order, Ended how many sessions of clients that wait somebody else ends, Quits how
	// many callers give up while they ask, and Faults how many of these together.
	Expiries int `json:"expiries"`
	Crashes  int `json:"crashes"`
	Lost     int `json:"lost"`
	Ended    int `json:"ended"`
	Quits    int `json:"quits,omitempty"`
	Faults   int `json:"faults"`
}

// wrong is a kind of move that goes wrong.
type wrong struct {
	do   Kind
	what string
	most func(Bounds) int
	like like
}

// like are the faults that do to a client in a run what the move does to it in an order: those with a
// step of their own, those that take any step, and those that do it only to locks with sessions.
type like struct{ faults, atSteps, sessions, sessionsAtSteps []string }

// wrongs are the moves that go wrong: what each is called, how many of them there are at most, and which
// faults are like it. Who gives up does so in every run now and then, without a fault.
var wrongs = []wrong{
	{Expires, "expiry", func(b Bounds) int { return b.Expiries }, like{
		faults: []string{"pause-holder"}, atSteps: []string{"pause"},
		sessions: []string{"expire-holder"}, sessionsAtSteps: []string{"expire"}}},
	{Dies, "crash", func(b Bounds) int { return b.Crashes }, like{faults: []string{"kill-holder"}, atSteps: []string{"kill"}}},
	{Loses, "lost reply", func(b Bounds) int { return b.Lost }, like{faults: []string{"reset-grant", "reset-reply"}, atSteps: []string{"reset-reply"}}},
	{Ended, "ended session", func(b Bounds) int { return b.Ended }, like{faults: []string{"expire-waiter"}}},
	{Quits, "given-up wait", func(b Bounds) int { return b.Quits }, like{}},
}

// Default are the bounds of who asks for none.
var Default = Bounds{Clients: 2, Acquisitions: 2, Polls: 1, Renewals: 1, Expiries: 1, Crashes: 1, Lost: 1, Faults: 1}

// mostClients are walked: of more there are too many orders.
const mostClients = 3

// Check says what is wrong with them.
func (b Bounds) Check() error {
	for _, n := range []struct {
		name       string
		got, least int
		most       int
	}{
		{"clients", b.Clients, 2, mostClients}, {"acquisitions", b.Acquisitions, 1, 9}, {"polls", b.Polls, 0, 9}, {"renewals", b.Renewals, 0, 9},
		{"expiries", b.Expiries, 0, 9}, {"crashes", b.Crashes, 0, 2}, {"lost", b.Lost, 0, 9}, {"ended", b.Ended, 0, 9}, {"quits", b.Quits, 0, 9}, {"faults", b.Faults, 0, 9},
	} {
		if n.got < n.least || n.got > n.most {
			return fmt.Errorf("%s %d: from %d to %d", n.name, n.got, n.least, n.most)
		}
	}
	return nil
}

// levels is the number of faults that an order may have.
func (b Bounds) levels() int {
	all := 0
	for _, w := range wrongs {
		all += w.most(b)
	}
	return min(b.Faults, all)
}

// allows reports whether an order with these faults may have one more.
func (b Bounds) allows(had []Move, m Move) bool {
	of := 0
	for _, h := range had {
		if h.Do == m.Do {
			of++
		}
	}
	i := slices.IndexFunc(wrongs, func(w wrong) bool { return w.do == m.Do })
	return i >= 0 && len(had) < b.Faults && of < wrongs[i].most(b)
}

func (b Bounds) String() string {
	faults := ""
	var of, most []string
	for _, w := range wrongs {
		if n := w.most(b); n > 0 {
			of, most = append(of, w.what), append(most, english.Count(n, w.what))
		}
	}
	switch n := b.levels(); {
	case n == 0:
		faults = "nothing going wrong"
	case n == 1:
		faults = "at most one " + english.Or(of)
	default:
		faults = fmt.Sprintf("at most %d faults (at most %s)", n, strings.Join(most, ", "))
	}
	return fmt.Sprintf("%s, %s each, %s to ask again after a change, %s each, %s", english.Count(b.Clients, "client"), english.Count(b.Acquisitions, "acquisition"),
		english.Count(b.Polls, "time"), english.Count(b.Renewals, "renewal"), faults)
}
