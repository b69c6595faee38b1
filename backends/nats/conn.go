package nats

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Dial connects to the first of the servers that answers, and to the next when the connection is lost. A request that
// finds no connection fails at once, instead of being kept to be sent later: nobody could tell then what became of it.
func Dial(endpoints []string, patience time.Duration) (*nats.Conn, error) {
	urls := make([]string, len(endpoints))
	for i, e := range endpoints {
		urls[i] = "nats://" + e
	}
	return nats.Connect(strings.Join(urls, ","), nats.DontRandomize(), nats.IgnoreDiscoveredServers(), nats.Timeout(patience),
		nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond), nats.ReconnectJitter(10*time.Millisecond, 0), nats.ReconnectBufSize(-1),
		nats.PingInterval(patience), nats.MaxPingsOutstanding(2), nats.FlusherTimeout(patience),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})) // else it writes to standard error
}

// BucketName is that of a bucket of locks, in which keys last for so long, 0 for ever.
func BucketName(keysLast time.Duration) string {
	if keysLast == 0 {
		return lb.Prefix
	}
	return fmt.Sprintf("%s-%dus", lb.Prefix, keysLast.Microseconds())
}

// Bucket opens one that is on so many servers, and makes it if it is not there. Keys last for as long as the bucket
// says, or where that is for ever, for as long as each key says. It asks again: what is asked of servers that have just
// found each other is not always answered.
func Bucket(ctx context.Context, c *nats.Conn, servers int, keysLast time.Duration) error {
	js, err := jetstream.New(c)
	if err != nil {
		return err
	}
	config := jetstream.KeyValueConfig{Bucket: BucketName(keysLast), Replicas: servers, TTL: keysLast}
	if keysLast == 0 {
		config.LimitMarkerTTL = time.Second // without it keys have no time of their own
	}
	for {
		err := bucket(ctx, js, config)
		if err == nil {
			return nil
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("make the bucket %s: %w", config.Bucket, err)
		}
	}
}

func bucket(ctx context.Context, js jetstream.JetStream, config jetstream.KeyValueConfig) error {
	const each = 3 * time.Second
	ctx, cancel := context.WithTimeout(ctx, each)
	defer cancel()
	_, err := js.KeyValue(ctx, config.Bucket)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		_, err = js.CreateKeyValue(ctx, config)
	}
	return err
}

// NoEffect reports whether the error says that the request was not carried out: it found no connection, nobody who
// keeps the bucket, or was refused for the key's revision, which is looked at first. What is refused later, or fails because
// the connection is closed, may have been carried out.
func NoEffect(err error) bool {
	for _, certain := range []error{ErrRevision, ErrMeanwhile, errNoConnection, nats.ErrReconnectBufExceeded, nats.ErrNoResponders, nats.ErrConnectionReconnecting} {
		if errors.Is(err, certain) {
			return true
		}
	}
	return false
}
