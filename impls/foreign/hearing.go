package foreign

import (
	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/wire"
)

// hearer is a lock of which others hear what it says to servers: one in Go says it to [lb.Env] itself.
type hearer interface {
	Hearing(wire.Language) lb.Impl
}

// Hearing is impl on servers that speak l. Whoever opens locks knows the servers, and asks for this
// first: of a program whose gates were not told the language nothing is heard but that it asks.
func Hearing(impl lb.Impl, l wire.Language) lb.Impl {
	if h, ok := impl.(hearer); ok {
		return h.Hearing(l)
	}
	return impl
}
