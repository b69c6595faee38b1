// Package memory says how much memory can still be had. It is asked before much is
// needed: afterwards the kernel, or Go's own runtime, ends the whole process.
package memory

import (
	"runtime/debug"
	"runtime/metrics"
)

// Available is how many bytes this process may still take: of the machine, of its
// control group, and of the limits that it was started with.
func Available() int64 { return min(left(), debug.SetMemoryLimit(-1)-InUse()) }

// InUse is the memory that this process has from the system, in bytes.
func InUse() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64() - sample[1].Value.Uint64())
}
