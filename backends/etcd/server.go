package etcd

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/lockbench/lockbench/lab"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
)

// lags: every 100 ms it looks for what was missed by a watch that begins in the past.
const lags = 130 * time.Millisecond

func program(self lab.Host, all []lab.Host) lab.Program {
	peers := make([]string, len(all))
	for i, h := range all {
		peers[i] = fmt.Sprintf("%s=http://%s:2380", h.Name(), h.Addr())
	}
	return lab.Program{
		Builtin: true,
		Argv: []string{"etcd", "--name", self.Name(), "--data-dir", "{dir}",
			"--listen-client-urls", "http://{addr}:{port}", "--advertise-client-urls", "http://" + self.Addr() + ":{port}",
			"--listen-peer-urls", "http://{addr}:2380", "--initial-advertise-peer-urls", "http://" + self.Addr() + ":2380",
			"--initial-cluster", strings.Join(peers, ","),
			// etcd raises a lease's TTL to 1.5 election timeouts, in whole seconds:
			// with its default of 1 s no lease could be as short as 1 s.
			"--heartbeat-interval", "50", "--election-timeout", "500"},
		Port:  2379,
		Ready: ready,
	}
}

// ready makes a linearizable read, which only a member of a cluster with a
// leader can answer.
func ready(ctx context.Context, endpoint string) error {
	c, err := clientv3.New(clientv3.Config{
		Endpoints: []string{endpoint}, Context: ctx, Logger: zap.NewNop(),
		DialOptions: []grpc.DialOption{grpc.WithDisableRetry()},
	})
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.Get(ctx, "ready")
	return err
}

// leads reports whether the member is the leader, as it itself says.
func leads(ctx context.Context, endpoint string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
	defer cancel()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}, Context: ctx, Logger: zap.NewNop()})
	if err != nil {
		return false, err
	}
	defer c.Close()
	status, err := c.Status(ctx, endpoint)
	if err != nil {
		return false, err
	}
	return status.Leader == status.Header.MemberId, nil
}

// clock reads the server's clock from the date of an HTTP answer, which has
// whole seconds.
func clock(ctx context.Context, endpoint string) (time.Time, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+endpoint+"/version", nil)
	if err != nil {
		return time.Time{}, err
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return time.Time{}, err
	}
	defer answer.Body.Close()
	return http.ParseTime(answer.Header.Get("Date"))
}
