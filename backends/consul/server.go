package consul

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/lockbench/lockbench/lab"
)

// program is a server as it comes, but for what its documentation wants of servers in production, and what a bench
// can't have: a TTL of ten seconds at least, and words to its maker.
func program(self lab.Host, all []lab.Host) lab.Program {
	argv := []string{binary, "agent", "-server", "-bootstrap-expect", strconv.Itoa(len(all)), "-node", self.Name(),
		"-bind", "{addr}", "-client", "{addr}", "-http-port", "{port}", "-data-dir", "{dir}/consul",
		"-dns-port", "-1", "-grpc-tls-port", "-1", "-serf-wan-port", "-1", "-retry-interval", "1s"}
	for _, h := range all {
		if h.Name() != self.Name() {
			argv = append(argv, "-retry-join", h.Addr())
		}
	}
	for _, s := range [][2]string{
		{"performance.raft_multiplier", "1"}, // "Server Performance": for production; the default is for machines of the least size
		{"session_ttl_min", "100ms"},         // the default is 10 s; the locks' own least TTL is that, but a test has not the time
		{"disable_update_check", "true"},
		{"disable_coordinates", "true"}, // of the network; they would be written down again and again
		{"connect.enabled", "false"},    // a mesh, which no lock uses
	} {
		argv = append(argv, "-hcl", setting(s[0], s[1]))
	}
	return lab.Program{Argv: argv, Port: 8500, Ready: ready}
}

// ready is a server whose node the leader knows, and takes for healthy: before that no session can be tied to it.
func ready(ctx context.Context, endpoint string) error {
	var self struct{ Config struct{ NodeName string } }
	if err := get(ctx, endpoint, "/v1/agent/self", &self); err != nil {
		return err
	}
	var checks []struct{ CheckID, Status string }
	if err := get(ctx, endpoint, "/v1/health/node/"+self.Config.NodeName+"?consistent", &checks); err != nil {
		return err
	}
	for _, c := range checks {
		if c.CheckID == "serfHealth" && c.Status == "passing" {
			return nil
		}
	}
	return errors.New("its leader does not know its node yet, or does not take it for healthy")
}

// leads reports whether the server takes itself for the leader.
func leads(ctx context.Context, endpoint string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var leader string
	if err := get(ctx, endpoint, "/v1/status/leader", &leader); err != nil || leader == "" {
		return false, err
	}
	of, _, err := net.SplitHostPort(leader)
	if err != nil {
		return false, fmt.Errorf("read the leader's address: %w", err)
	}
	self, _, err := net.SplitHostPort(endpoint)
	return of == self, err
}
