package checker

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"

	"github.com/lockbench/lockbench/history"
)

// Visualize writes porcupine's own picture of the operations of a finding that it
// confirmed: a page that opens offline, with the longest order that explains a part of
// them. Where there are more operations than it can tell apart, or no finding of the kind,
// the error says so.
func Visualize(ctx context.Context, w io.Writer, plan history.Plan, ix *history.Index, f Finding) error {
	if f.Layer != LayerGrant || !f.Confirmed {
		return fmt.Errorf("porcupine confirmed no finding of the layer %q", f.Layer)
	}
	r, err := bounded(ctx, DefaultLimit, func() *run { return newRun(plan, ix) })
	if err != nil {
		return fmt.Errorf("reading the history failed: %w", err)
	}
	ops := slices.DeleteFunc(r.ops(), func(op Op) bool { return !slices.Contains(f.IDs, r.ID(&r.Acqs[op.ID])) })
	m := newModel(ops, r.plan.Traits.AtOnce())
	if len(ops) == 0 || len(m.ids) > maxModel {
		return fmt.Errorf("%d operations of the finding: porcupine can't draw them", len(ops))
	}
	model := m.model()
	model.DescribeOperation = func(input, _ any) string { return r.describe(input.(move).Op) }
	model.DescribeState = func(state any) string { return r.holding(m, state.([]any)) }
	result, info := porcupine.CheckOperationsVerbose(model, m.operations(ops), confirmTime)
	if result != porcupine.Illegal {
		return fmt.Errorf("porcupine finds the operations %v", result)
	}
	return porcupine.Visualize(model, info, w)
}

// describe tells of an operation in a few words: "w1.c0 acquires: ok".
func (r *run) describe(op Op) string {
	who := r.who(&r.Acqs[op.ID])
	switch op.Kind {
	case Acquire:
		return fmt.Sprintf("%s acquires: %s", who, op.Result)
	case Release:
		return fmt.Sprintf("%s releases: %s", who, op.Result)
	}
	return fmt.Sprintf("the lease of %s may end", who)
}

// holding tells which clients may hold the lock: one of the states is the true one.
func (r *run) holding(m *model, states []any) string {
	var all []string
	for _, s := range states {
		var who []string
		for i, id := range m.ids {
			if s.(stand).held.has(i) {
				who = append(who, r.who(&r.Acqs[id]))
			}
		}
		all = append(all, cmp.Or(strings.Join(who, " and "), "nobody"))
	}
	slices.Sort(all)
	return "held by " + strings.Join(slices.Compact(all), ", or by ")
}
