package languages

import (
	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
)

// PythonEtcd3 is the lock of python-etcd3: a key with a lease that nobody renews.
func PythonEtcd3() lb.Impl {
	return adapter("etcd3_lock.py", "etcd3_lock.json", "python3-etcd3",
		compose.Except(compose.Lease(), append(compose.Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Check, lb.Safe},
			Why: "etcd's leases are immune; but who works while the fault lasts outlives one that nobody renews, which who looks can see", Source: "python-etcd3, locks.py"},
			append(compose.ServerClocks(), "restart-server")...),
			compose.OverAtOnce("lost-grant"), compose.OldYes("lose-reply"), compose.OldYes("slow-reply"),
			lb.Expectation{Fault: "client-clock:drift", Outcomes: []lb.Outcome{lb.Broken, lb.Check}, Why: "the holder measures its lease by a clock that is slow", Source: compose.Kleppmann})...))
}
