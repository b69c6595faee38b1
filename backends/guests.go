package backends

import (
	"github.com/lockbench/lockbench/backends/redis"
	"github.com/lockbench/lockbench/lab"
)

// guests by the software of kinds which are still in package lab, and can't name them there.
var guests = map[string]func() *lab.Guest{
	"redis": redis.Guest,
}

// WithGuests are the topologies, to whose servers lockbench can log in where somebody else
// runs them. A kind that says how by itself is left as it is.
func WithGuests(all []lab.Topology) []lab.Topology {
	for i := range all {
		k := &all[i].Kind
		if guest := guests[k.Software.Name]; guest != nil && k.Guest == nil {
			k.Guest = guest()
		}
	}
	return all
}
