// Package shrink makes what shows a violation as small as it can be while it still shows it.
// It knows no servers: whoever asks it says whether a case shows the violation.
package shrink

import (
	"fmt"
	"slices"
	"time"
)

// Case is a run as far as it can be made smaller.
type Case struct {
	// Faults strike in this order.
	Faults []string
	// AtOnce is how many of them may be in force at a time, from 1. One fault alone with several
	// at once is one that draws them.
	AtOnce             int
	Clients, Processes int
	Duration           time.Duration
}

// Shows reports whether a case shows the violation. An error ends the search.
type Shows func(Case) (bool, error)

// Smallest makes the case smaller for as long as it shows the violation: no faults at all, or
// those that were guessed; then, by delta debugging (Zeller and Hildebrandt 2002), none of the
// faults that can be left out alone; then as few at once, clients, processes and seconds as
// will do, each halved. Shown is false where not even the case itself showed it. With an error
// the case is the smallest until then.
func Smallest(from Case, guess []string, shows Shows) (smallest Case, shown bool, err error) {
	s := search{now: from, shows: shows, known: map[string]bool{}, draws: len(from.Faults) == 1 && from.AtOnce > 1}
	if !s.try(with(from, nil)) && !s.try(with(from, guess)) && !s.try(from) {
		return from, false, s.err
	}
	s.fewerFaults()
	s.less(1, func(c *Case) *int { return &c.AtOnce })
	s.less(2, func(c *Case) *int { return &c.Clients })
	s.less(1, func(c *Case) *int { return &c.Processes })
	for d := time.Second; d < s.now.Duration; d *= 2 {
		c := s.now
		c.Duration = d
		if s.try(c) {
			break
		}
	}
	return s.now, true, s.err
}

// search is one at work.
type search struct {
	now   Case // the smallest that showed it
	shows Shows
	draws bool            // its one fault draws others
	known map[string]bool // what was tried
	err   error           // nothing is tried any more
}

// try makes the case the one that is there now, if it shows the violation.
func (s *search) try(c Case) bool {
	c.Processes = min(c.Processes, c.Clients)
	if !s.draws || len(c.Faults) == 0 {
		c.AtOnce = max(1, min(c.AtOnce, len(c.Faults)))
	}
	key := fmt.Sprint(c)
	shown, tried := s.known[key]
	if !tried && s.err == nil {
		shown, s.err = s.shows(c)
		s.known[key] = shown
	}
	if shown {
		s.now = c
	}
	return shown
}

func with(c Case, faults []string) Case {
	c.Faults = faults
	return c
}

// fewerFaults leaves out faults: all but a part of them, or a part, of which there are more
// and more, until each is one fault that can't be left out.
func (s *search) fewerFaults() {
	for parts := 2; len(s.now.Faults) > 1; {
		parts = min(parts, len(s.now.Faults))
		all := s.now.Faults
		switch {
		case s.part(all, parts, func(from, to int) []string { return all[from:to] }):
			parts = 2
		case s.part(all, parts, func(from, to int) []string { return slices.Concat(all[:from], all[to:]) }):
			parts = max(2, parts-1)
		case parts == len(all):
			return
		default:
			parts *= 2
		}
	}
}

// part tries what is made of each part of all.
func (s *search) part(all []string, parts int, of func(from, to int) []string) bool {
	for i := range parts {
		if s.try(with(s.now, of(i*len(all)/parts, (i+1)*len(all)/parts))) {
			return true
		}
	}
	return false
}

// less tries the least of a number, then twice as much, and so on.
func (s *search) less(least int, of func(*Case) *int) {
	for n := least; n < *of(&s.now); n *= 2 {
		c := s.now
		*of(&c) = n
		if s.try(c) {
			return
		}
	}
}
