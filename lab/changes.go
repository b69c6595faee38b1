package lab

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// ErrNoCount is a server that does not count its changes.
var ErrNoCount = errors.New("lab: the server does not count its changes")

// Count is what servers say of all that was done to them.
type Count struct {
	// Changes stays the same under requests that only read, and under no other that changes what a later
	// one is answered.
	Changes uint64
	// Told stays the same as long as nobody is told anything that is no change, as who listens to a channel is,
	// and nobody begins to listen.
	Told uint64
	// Whole: a request under which all stays the same has done nothing that any other client can tell. It
	// is not so where one may hear of more than this, as who waits for a key does.
	Whole bool
}

// Counting asks one server for its count, and is closed in the end.
type Counting struct {
	Ask   func(context.Context) (Count, error)
	Close func()
}

// Counter asks all servers of a service for their counts together.
type Counter []Counting

// Counter is none where a server does not count its changes: then it is [ErrNoCount].
func (s *Service) Counter() (all Counter, err error) {
	for _, server := range s.Servers {
		if server.kind.Counts == nil {
			all.Close()
			return nil, ErrNoCount
		}
		c, err := server.kind.Counts(server.Endpoint())
		if err != nil {
			all.Close()
			return nil, fmt.Errorf("lab: %s: count its changes: %w", server.Name(), err)
		}
		all = append(all, c)
	}
	return all, nil
}

// Ask is the count of now.
func (all Counter) Ask(ctx context.Context) (sum Count, err error) {
	sum.Whole = true
	for _, c := range all {
		n, err := c.Ask(ctx)
		if err != nil {
			return Count{}, fmt.Errorf("lab: count a server's changes: %w", err)
		}
		sum.Changes, sum.Told, sum.Whole = sum.Changes+n.Changes, sum.Told+n.Told, sum.Whole && n.Whole
	}
	return sum, nil
}

// Close ends the connections.
func (all Counter) Close() {
	for _, c := range all {
		c.Close()
	}
}

// What Redis's INFO says of changes, of what is told beside these, and of who may hear of more. The servers of
// a lab save nothing by themselves.
var (
	redisSections = []string{"persistence", "memory", "stats", "clients", "commandstats"}
	redisChanges  = []string{"rdb_changes_since_last_save:", "number_of_cached_scripts:", "number_of_functions:"}
	redisTold     = []string{"pubsub_channels:", "pubsub_patterns:", "pubsubshard_channels:",
		"cmdstat_publish:", "cmdstat_spublish:", "cmdstat_subscribe:", "cmdstat_psubscribe:", "cmdstat_ssubscribe:",
		"cmdstat_unsubscribe:", "cmdstat_punsubscribe:", "cmdstat_sunsubscribe:"} // of a command, how often it was called
	redisHearers = []string{"blocked_clients:", "tracking_clients:"}
)

func redisCounts(endpoint string) (Counting, error) {
	c := redis.NewClient(&redis.Options{Addr: endpoint, MaxRetries: -1, DialTimeout: patient, ReadTimeout: patient, PoolSize: 1})
	return Counting{Close: func() { _ = c.Close() }, Ask: func(ctx context.Context) (Count, error) {
		answers, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
			for _, section := range redisSections { // a server of before Redis 7 takes one at a time
				p.Info(ctx, section)
			}
			return nil
		})
		if err != nil {
			return Count{}, err
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
		for _, head := range redisChanges {
			if info[head] == "" {
				return Count{}, fmt.Errorf("no %q in what the server says of itself", head)
			}
			fmt.Fprintln(changes, info[head])
		}
		for _, head := range redisTold { // a command that was never called is not named
			fmt.Fprintln(told, info[head])
		}
		for _, head := range redisHearers {
			n, err := strconv.ParseUint(info[head], 10, 64)
			if err != nil { // who can't tell must take it that somebody hears
				n = 1
			}
			hearers += n
		}
		return Count{changes.Sum64(), told.Sum64(), hearers == 0}, nil
	}}, nil
}

// numberAfter is the number that follows a line's head.
func numberAfter(text []byte, head string, base int) (uint64, error) {
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if digits, ok := strings.CutPrefix(lines.Text(), head); ok {
			return strconv.ParseUint(strings.TrimSpace(digits), base, 64)
		}
	}
	return 0, fmt.Errorf("no %q in %q", head, text)
}
