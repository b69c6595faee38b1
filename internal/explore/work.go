package explore

import (
	"fmt"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/workloads"
)

// works are what clients may do: take a lock, take it once more while they hold it, take it in either mode, and
// take two locks, or one of the places of a semaphore. Nothing in them is drawn but by who the client is, so that the same moves come to the same.
var works = []workloads.Workload{workloads.Counter{}, workloads.Reentrant{}, workloads.Readers{InTurn: true}, workloads.Transfer{Accounts: 2}, workloads.Pool{}}

// Workloads are the names of what clients may do, the first where nobody says.
func Workloads() (names []string) {
	for _, w := range works {
		names = append(names, w.Info().Name)
	}
	return names
}

// Fits says why a lock has nothing to do in such work, or nil.
func (p Plan) Fits(lock lb.Info) error {
	w, err := p.work()
	if err != nil {
		return err
	}
	if w.Info().Again && !lock.Traits.Reentrant {
		return fmt.Errorf("%s is not reentrant, and clients of the workload %s take what they hold", lock.Name, p.Workload)
	}
	if n := lock.Traits.AtOnce(); n > 1 && p.Bounds.Clients <= n {
		return fmt.Errorf("%d may hold %s at once, and orders of %d clients show nothing of that; there are orders of up to %d", n, lock.Name, p.Bounds.Clients, mostClients)
	}
	return w.Info().Available(lock)
}

func (p Plan) work() (workloads.Workload, error) {
	if p.Workload == "" {
		return works[0], nil
	}
	for _, w := range works {
		if w.Info().Name == p.Workload {
			return w, nil
		}
	}
	return nil, fmt.Errorf("no orders of the workload %s are known%s", p.Workload, english.Near(p.Workload, Workloads()))
}

// first reports whether clients do what they do where nobody says. Of that alone it is known what a moment must
// have in its key (see [place]).
func (p Plan) first() bool { return p.Workload == "" || p.Workload == Workloads()[0] }

// Within are the bounds in words.
func (p Plan) Within() string {
	if p.first() {
		return p.Bounds.String()
	}
	return "workload " + p.Workload + ", " + p.Bounds.String()
}
