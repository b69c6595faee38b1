// Package etcdserver is the etcd server as a part of this program: no package of
// a distribution and no image is needed to run one.
package etcdserver

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/lockbench/lockbench/internal/clock"
	"go.etcd.io/etcd/pkg/v3/flags"
	"go.etcd.io/etcd/server/v3/embed"
)

// ClockFile is the environment variable that names the file of a clock apart from
// the machine's. It holds an offset in ns, the monotonic instant since when a drift
// counts in ns, and the drift in parts per billion, 64 bits each.
const ClockFile = clock.FileVar

// Serve runs one etcd server until ctx ends. args are the flags of etcd's own
// program.
func Serve(ctx context.Context, args []string) error {
	if file := os.Getenv(ClockFile); file != "" {
		if err := clock.Follow(file); err != nil {
			return fmt.Errorf("move the clock: %w", err)
		}
	}
	cfg := embed.NewConfig()
	set := flag.NewFlagSet("etcd", flag.ContinueOnError)
	set.Usage = func() {} // hundreds of lines, among which nobody finds what was wrong
	cfg.AddFlags(set)
	set.StringVar(&cfg.ClusterState, "initial-cluster-state", cfg.ClusterState, "new, or existing for a member that joins")
	if err := set.Parse(args); err != nil {
		return err
	}
	// The flags that are lists of addresses are left for the caller to copy.
	cfg.ListenPeerUrls = flags.UniqueURLsFromFlag(set, "listen-peer-urls")
	cfg.ListenClientUrls = flags.UniqueURLsFromFlag(set, "listen-client-urls")
	cfg.AdvertisePeerUrls = flags.UniqueURLsFromFlag(set, "initial-advertise-peer-urls")
	cfg.AdvertiseClientUrls = flags.UniqueURLsFromFlag(set, "advertise-client-urls")
	e, err := embed.StartEtcd(cfg)
	if err != nil {
		return fmt.Errorf("start etcd: %w", err)
	}
	defer e.Close()
	select {
	case err := <-e.Err():
		return err
	case <-ctx.Done():
		return nil
	}
}
