package faults

import (
	"errors"
	"fmt"

	lb "github.com/lockbench/lockbench"
)

func needsNetwork(s lb.Setting) error {
	if !s.Network {
		return fmt.Errorf("the %s lab can't drop packets; use --lab local", s.Lab)
	}
	return nil
}

func needsServers(s lb.Setting) error {
	if s.Servers == 0 {
		return fmt.Errorf("%s has no lock service", s.Algorithm.Name)
	}
	return nil
}

// cut is a set of drops in force.
type cut struct{ rules []lb.Rule }

// cutOff drops all packets between the two sides, both ways.
func cutOff(on lb.Stage, a, b []lb.Process) (*cut, error) {
	there, err := dropped(on, a, b)
	if err != nil {
		return nil, err
	}
	back, err := dropped(on, b, a)
	if err != nil {
		return nil, errors.Join(err, there.heal())
	}
	return &cut{append(there.rules, back.rules...)}, nil
}

// dropped drops all packets one way.
func dropped(on lb.Stage, from, to []lb.Process) (*cut, error) {
	rule, err := on.Network().Drop(from, to)
	if err != nil {
		return nil, err
	}
	return &cut{[]lb.Rule{rule}}, nil
}

// packets that were dropped so far.
func (c *cut) packets() (sum uint64, err error) {
	for _, r := range c.rules {
		n, e := r.Packets()
		sum, err = sum+n, errors.Join(err, e)
	}
	return sum, err
}

func (c *cut) heal() (err error) {
	for _, r := range c.rules {
		err = errors.Join(err, r.Remove())
	}
	return err
}
