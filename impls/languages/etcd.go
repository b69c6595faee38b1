package languages

import (
	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
)

// PythonEtcd3 is the lock of python-etcd3: a key with a lease that nobody renews.
func PythonEtcd3() lb.Impl {
	late := func(fault string) lb.Expectation {
		return lb.Expectation{Fault: fault, Outcomes: []lb.Outcome{lb.Check, lb.Safe},
			Why: "etcd's leases are immune; but who works while the fault lasts outlives one that nobody renews, which who looks can see", Source: "python-etcd3, locks.py"}
	}
	return adapter("etcd3_lock.py", "etcd3_lock.json", "python3-etcd3",
		compose.Except(compose.Lease(), compose.OverAtOnce("lost-grant"), compose.OldYes("lose-reply"), compose.OldYes("slow-reply"),
			late("server-clock"), late("server-clock:drift"), late("server-clock:back"), late("restart-server"),
			lb.Expectation{Fault: "client-clock:drift", Outcomes: []lb.Outcome{lb.Broken, lb.Check}, Why: "the holder measures its lease by a clock that is slow", Source: compose.Kleppmann}))
}
