// Package workloads holds what clients do inside the lock, and the protected
// store that they do it to.
package workloads

import (
	"slices"

	lb "github.com/lockbench/lockbench"
)

// All returns the workloads.
func All() []lb.Workload { return []lb.Workload{Counter{}} }

// Find returns the workload of that name.
func Find(name string) (lb.Workload, bool) {
	all := All()
	i := slices.IndexFunc(all, func(w lb.Workload) bool { return w.Info().Name == name })
	if i < 0 {
		return nil, false
	}
	return all[i], true
}
