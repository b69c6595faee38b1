package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/internal/cost"
)

// Sixteen programs take seconds to start, and so many virtual machines half a minute: in turns like the other
// rows they would have all of the time. So they are started once, on the main servers, and have one turn for all
// rounds, in front of them.
const (
	programAlone = 100 * time.Millisecond
	programCrowd = 300 * time.Millisecond
	programOpen  = time.Minute
	programWarm  = 2 * time.Second
)

func (r row) program() bool { return r.impl.Info().Program }

// programs measures the rows that are programs, one after the other.
func (m *measurement) programs(ctx context.Context) error {
	for _, r := range m.rows {
		if !r.program() || !m.first(r) {
			continue
		}
		v := m.visitOf(r, 0)
		if err := m.settle(ctx, v, v.program(ctx)); err != nil {
			return err
		}
		m.out.Programs++
		if err := m.dir.Save(); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// program is the turn of one. What a cycle takes is measured before all others start.
func (v *visit) program(ctx context.Context) error {
	rounds := func(clients int, do func() error) error {
		if err := v.party.grow(ctx, clients, programOpen); err != nil {
			return err
		}
		for began := time.Now(); time.Since(began) < programWarm; { // a virtual machine that has just started is very slow
			if err := v.forNothing(do); err != nil {
				return err
			}
		}
		for v.round = 0; v.round < v.plan.Rounds && ctx.Err() == nil; v.round++ {
			if err := do(); err != nil {
				return err
			}
		}
		return ctx.Err()
	}
	if err := rounds(1, func() error { v.alone(ctx, programAlone); return nil }); err != nil {
		v.cell(cost.Closed, 1, 1).Fail(err)
		return err
	}
	if err := rounds(cost.Contenders, func() error { return v.crowd(ctx, cost.Closed, cost.Contenders, 1, programCrowd) }); err != nil {
		return fmt.Errorf("%d of it: %w", cost.Contenders, err)
	}
	if v.plan.Rate == 0 {
		return nil
	}
	return rounds(cost.Contenders, func() error { return v.crowd(ctx, cost.Open, cost.Contenders, 1, programCrowd) })
}
