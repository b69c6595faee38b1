package lockbench

import "context"

// Workload is what clients do inside the lock.
type Workload interface {
	Info() WorkloadInfo
	// Open prepares one client's tasks. store is the protected store's address.
	Open(ctx context.Context, env *Env, store string) (Task, error)
}

// WorkloadInfo describes a workload.
type WorkloadInfo struct {
	Name string
	Doc  string
	// Steps are the points that every section passes, in order.
	Steps []string
}

// Task is one client's work.
type Task interface {
	// Do works once under the lease. Its errors are those of the work; the
	// lock is released either way.
	Do(ctx context.Context, lease *Lease) error
	Close() error
}
