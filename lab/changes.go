package lab

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// ErrNoCount is a server that does not count its changes.
var ErrNoCount = errors.New("lab: the server does not count its changes")

// Changes counts what was changed on the servers since they started, in a unit of their own: it stays the
// same under requests that only read.
func (s *Service) Changes(ctx context.Context) (all uint64, err error) {
	for _, server := range s.Servers {
		if server.kind.Changes == nil {
			return 0, ErrNoCount
		}
		n, err := server.kind.Changes(ctx, server.Endpoint())
		if err != nil {
			return 0, fmt.Errorf("lab: %s: count its changes: %w", server.Name(), err)
		}
		all += n
	}
	return all, nil
}

// redisChanges is INFO's rdb_changes_since_last_save. The servers of a lab save nothing by themselves.
func redisChanges(ctx context.Context, endpoint string) (n uint64, err error) {
	err = askRedis(endpoint, patient, func(c *redis.Client) error {
		info, err := c.Info(ctx, "persistence").Result()
		if err == nil {
			n, err = numberAfter([]byte(info), "rdb_changes_since_last_save:", 10)
		}
		return err
	})
	return n, err
}

// zookeeperChanges is the number of the last transaction.
func zookeeperChanges(ctx context.Context, endpoint string) (uint64, error) {
	answer, err := zookeeperAsk(ctx, endpoint)
	if err != nil {
		return 0, err
	}
	return numberAfter(answer, "Zxid: 0x", 16)
}

// etcdChanges is the revision of the keys.
func etcdChanges(ctx context.Context, endpoint string) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}, Context: ctx, Logger: zap.NewNop()})
	if err != nil {
		return 0, err
	}
	defer c.Close()
	status, err := c.Status(ctx, endpoint)
	if err != nil {
		return 0, err
	}
	return uint64(status.Header.Revision), nil
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
