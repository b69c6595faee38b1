package external

import (
	"net"

	"github.com/lockbench/lockbench/lab"
)

// Serve passes on what comes to the listener to the first server at the addresses, as the lab
// does it, until the listener is closed: so a client can be tried on the login of a kind.
func Serve(addrs string, k lab.Kind, l net.Listener) error {
	c, err := read(addrs)
	if err != nil {
		return err
	}
	all, err := c.relays(k)
	if err != nil {
		return err
	}
	defer all[0].end()
	return all[0].serve(l)
}
