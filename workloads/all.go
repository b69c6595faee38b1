// Package workloads holds what clients do inside the lock, and the protected
// store that they do it to.
package workloads

// All returns the workloads.
func All() []Workload {
	return []Workload{
		Counter{},
		Counter{CAS: true},
		Pool{},
		Stock{Goods: 1},
		Stock{Goods: 6},
		Once{},
		Once{Key: true},
		Reward{},
		Reward{Record: true},
		Transfer{},
		Transfer{Unordered: true},
		Readers{},
		Impatient{},
		Reentrant{},
		NeverReleases{},
	}
}
