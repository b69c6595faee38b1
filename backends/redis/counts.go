package redis

import (
	"context"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/lockbench/lockbench/lab"
	"github.com/redis/go-redis/v9"
)

// What Redis's INFO says of changes, of what is told beside these, and of who may hear of more. The servers of
// a lab save nothing by themselves.
var (
	infoSections = []string{"persistence", "memory", "stats", "clients", "commandstats"}
	changeLines  = []string{"rdb_changes_since_last_save:", "number_of_cached_scripts:", "number_of_functions:"}
	toldLines    = []string{"pubsub_channels:", "pubsub_patterns:", "pubsubshard_channels:",
		"cmdstat_publish:", "cmdstat_spublish:", "cmdstat_subscribe:", "cmdstat_psubscribe:", "cmdstat_ssubscribe:",
		"cmdstat_unsubscribe:", "cmdstat_punsubscribe:", "cmdstat_sunsubscribe:"} // of a command, how often it was called
	hearerLines = []string{"blocked_clients:", "tracking_clients:"}
)

// counts sums up what INFO says.
func counts(endpoint string) (lab.Counting, error) {
	c := redis.NewClient(&redis.Options{Addr: endpoint, MaxRetries: -1, DialTimeout: patient, ReadTimeout: patient, PoolSize: 1})
	return lab.Counting{Close: func() { _ = c.Close() }, Ask: func(ctx context.Context) (lab.Count, error) {
		answers, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
			for _, section := range infoSections { // a server of before Redis 7 takes one at a time
				p.Info(ctx, section)
			}
			return nil
		})
		if err != nil {
			return lab.Count{}, err
		}
		info := map[string]string{}
		for _, a := range answers {
			for line := range strings.Lines(a.(*redis.StringCmd).Val()) {
				if head, n, ok := strings.Cut(line, ":"); ok {
					n, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimSpace(n), "calls="), ",")
					info[head+":"] = n
				}
			}
		}
		changes, told, hearers := fnv.New64a(), fnv.New64a(), uint64(0)
		for _, head := range changeLines {
			if info[head] == "" {
				return lab.Count{}, fmt.Errorf("no %q in what the server says of itself", head)
			}
			fmt.Fprintln(changes, info[head])
		}
		for _, head := range toldLines { // a command that was never called is not named
			fmt.Fprintln(told, info[head])
		}
		for _, head := range hearerLines {
			n, err := strconv.ParseUint(info[head], 10, 64)
			if err != nil { // who can't tell must take it that somebody hears
				n = 1
			}
			hearers += n
		}
		return lab.Count{Changes: changes.Sum64(), Told: told.Sum64(), Whole: hearers == 0}, nil
	}}, nil
}
