// Package workloads holds what clients do inside the lock, and the protected
// store that they do it to.
package workloads

// All returns the workloads.
func All() []Workload { return []Workload{Counter{}} }
