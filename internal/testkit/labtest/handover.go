package labtest

import (
	"testing"
	"time"

	"github.com/lockbench/lockbench/lab"
)

// HandOver has people hand the lead over at the server that has it, and wants another to lead within half a minute.
func HandOver(t *testing.T, kind lab.Kind, servers []*lab.Server) {
	t.Helper()
	const bound = 30 * time.Second
	leader := func() *lab.Server {
		for begin := time.Now(); time.Since(begin) < bound; {
			for _, s := range servers {
				if leads, err := kind.Leads(t.Context(), s.Endpoint()); err == nil && leads {
					return s
				}
			}
		}
		t.Fatalf("nobody has led for %v", bound)
		return nil
	}
	first := leader()
	if e, err := first.Operate(t.Context(), lab.FailOver, ""); err != nil || e.Count != 1 {
		t.Errorf("hand over: %+v, %v", e, err)
	}
	for begin := time.Now(); leader().Name() == first.Name(); {
		if time.Since(begin) > bound {
			t.Fatalf("%s still leads", first.Name())
		}
	}
}
