package nats

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/lockbench/lockbench/lab"
)

const (
	configuration = "nats.conf"
	monitoring    = "8222" // the port at which a server tells of itself, by HTTP
	routes        = 6222   // the port at which servers talk to each other
)

func program(self lab.Host, all []lab.Host) lab.Program {
	argv := []string{"nats-server", "--name", self.Name(), "--addr", "{addr}", "--port", "{port}", "--http_port", monitoring,
		"--jetstream", "--store_dir", "{dir}/jetstream", "--config", "{dir}/" + configuration}
	if len(all) > 1 {
		var urls []string
		for _, h := range all {
			urls = append(urls, fmt.Sprintf("nats://%s:%d", h.Addr(), routes))
		}
		argv = append(argv, "--cluster_name", "lockbench", "--cluster", fmt.Sprintf("nats://{addr}:%d", routes), "--routes", strings.Join(urls, ","))
	}
	return lab.Program{
		Builtin: true,
		Argv:    argv,
		Files:   map[string]string{configuration: "# beside the command line\n"},
		Port:    4222,
		Ready:   func(ctx context.Context, endpoint string) error { return ready(ctx, endpoint, len(all)) },
	}
}

// electionTimeout is for how long a server waits at most to hear from the leader, before it wants to be that itself: four to nine
// seconds, by chance, which nobody can set.
const electionTimeout = 9 * time.Second

// durable has the server write to its disk before it confirms. By default it does so every two minutes.
func durable(p lab.Program) lab.Program { return configured(p, "jetstream.sync_interval", "always") }

// ready is a server that knows who leads all servers, and, if it does so itself, has heard from all of them: before
// that it finds no place for a bucket that shall be on each.
func ready(ctx context.Context, endpoint string, servers int) error {
	if servers < 2 {
		var health struct{ Status, Error string }
		err := tell(ctx, endpoint, "/healthz", &health)
		if err == nil && health.Status != "ok" {
			err = fmt.Errorf("its health is %q: %s", health.Status, health.Error)
		}
		return err
	}
	var js struct {
		Meta struct {
			Leader   string
			Replicas []struct{ Offline bool }
		} `json:"meta_cluster"`
	}
	if err := tell(ctx, endpoint, "/jsz", &js); err != nil {
		return err
	}
	if js.Meta.Leader == "" {
		return fmt.Errorf("it knows of no leader of its cluster")
	}
	for _, other := range js.Meta.Replicas {
		if other.Offline {
			return fmt.Errorf("it leads its cluster, and has not heard from all others")
		}
	}
	return nil
}

// leads reports whether the server leads the group of servers that agree about a bucket: each bucket has one of its own,
// and who places buckets is another. A run has one bucket; of servers that have others, too, it may be one of theirs.
func leads(ctx context.Context, endpoint string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
	defer cancel()
	var accounts map[string]map[string]struct{ State string }
	if err := tell(ctx, endpoint, "/raftz?acc=$G", &accounts); err != nil {
		return false, err
	}
	for _, groups := range accounts {
		for name, g := range groups {
			if strings.HasPrefix(name, "S-") && strings.EqualFold(g.State, "leader") {
				return true, nil
			}
		}
	}
	return false, nil
}

// clock reads the server's wall clock.
func clock(ctx context.Context, endpoint string) (time.Time, error) {
	var about struct{ Now time.Time }
	err := tell(ctx, endpoint, "/varz", &about)
	return about.Now, err
}

// tell asks the server for what it tells of itself.
func tell(ctx context.Context, endpoint, what string, into any) error {
	host, _, err := net.SplitHostPort(endpoint)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, monitoring)+what, nil)
	if err != nil {
		return err
	}
	req.Close = true // it may be another server at this address when it is asked again
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(into); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}
