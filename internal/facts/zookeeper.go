package facts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/english"
)

func zookeeperQuestions() []Question {
	return []Question{
		{Name: "zookeeper-nodes", Asks: "what ZooKeeper's nodes outlive, hold and may have below them", Topology: topology("zookeeper"), ask: nodes},
		{Name: "zookeeper-counter", Asks: "what follows on the last number that ZooKeeper can give to a node", Topology: nearItsEnd(), ask: counter},
		{Name: "zookeeper-observer", Asks: "what observers and followers vote for, and how old their answers are", Topology: observed(), ask: observer},
	}
}

// session is one of a client's, at one of the servers.
const session = 4 * time.Second

// dial begins a session at some of the servers.
func dial(ctx context.Context, endpoints ...string) (*zk.Conn, error) {
	c, events, err := zk.Connect(endpoints, session, zk.WithLogInfo(false), zk.WithLogger(silent{}))
	if err != nil {
		return nil, err
	}
	for {
		select {
		case e := <-events:
			if e.State == zk.StateHasSession {
				go func() { // nobody else reads them, and they must not fill up
					for range events {
					}
				}()
				return c, nil
			}
		case <-ctx.Done():
			c.Close()
			return nil, fmt.Errorf("begin a session at %s: %w", strings.Join(endpoints, ","), ctx.Err())
		}
	}
}

type silent struct{}

func (silent) Printf(string, ...any) {}

var anybody = zk.WorldACL(zk.PermAll)

// Sizes around what a request may have: jute.maxbuffer is 0xfffff bytes where nobody says otherwise.
const (
	megabyte = 1 << 20
	under    = megabyte - 2000
)

func nodes(ctx context.Context, at bench) (found []Fact, err error) {
	first, err := dial(ctx, at.endpoints()...)
	if err != nil {
		return nil, err
	}
	defer first.Close()
	for _, node := range []struct {
		path string
		flag int32
	}{{"/facts", zk.FlagPersistent}, {"/facts/persistent", zk.FlagPersistent}, {"/facts/ephemeral", zk.FlagEphemeral}} {
		if _, err := first.Create(node.path, nil, node.flag, anybody); err != nil {
			return nil, err
		}
	}
	_, refused := first.Create("/facts/ephemeral/child", nil, zk.FlagPersistent, anybody)
	found = append(found, Fact{"ephemeral-has-no-children", errors.Is(refused, zk.ErrNoChildrenForEphemerals), "a child of an ephemeral node: " + outcome(refused)})

	first.Close()

	second, err := dial(ctx, at.endpoints()...)
	if err != nil {
		return nil, err
	}
	defer second.Close()
	stays, _, err1 := second.Exists("/facts/persistent")
	left, _, err2 := second.Exists("/facts/ephemeral")
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	found = append(found,
		Fact{"persistent-stays", stays, "after the end of its client's session a persistent node " + isThere(stays)},
		Fact{"ephemeral-ends", !left, "after the end of its client's session an ephemeral node " + isThere(left)})
	container, err := container(ctx, second)
	if err != nil {
		return nil, err
	}
	_, small := second.Create("/facts/under", make([]byte, under), zk.FlagPersistent, anybody)
	_, large := second.Create("/facts/over", make([]byte, megabyte), zk.FlagPersistent, anybody) // which ends the connection
	return append(found, container, Fact{"a-megabyte-at-most", small == nil && large != nil,
		fmt.Sprintf("%d bytes: %s; %d bytes: %s", under, outcome(small), megabyte, outcome(large))}), nil
}

// container is whether an empty one goes, and a creation below it fails then.
func container(ctx context.Context, c *zk.Conn) (f Fact, err error) {
	const path = "/facts/container"
	if _, err := c.CreateContainer(path, nil, zk.FlagContainer, anybody); err != nil {
		return f, err
	}
	if _, err := c.Create(path+"/child", nil, zk.FlagPersistent, anybody); err != nil {
		return f, err
	}
	if err := c.Delete(path+"/child", -1); err != nil {
		return f, err
	}
	emptied, there := time.Now(), true
	for there && time.Since(emptied) < 10*time.Second {
		if err := sleep(ctx, 50*time.Millisecond); err != nil {
			return f, err
		}
		if there, _, err = c.Exists(path); err != nil {
			return f, err
		}
	}
	_, refused := c.Create(path+"/child", nil, zk.FlagPersistent, anybody)
	return Fact{"empty-container-goes", !there && errors.Is(refused, zk.ErrNoNode),
		fmt.Sprintf("%.1f s after it was emptied a container %s (the server looks once a second here, and once a minute where nobody says otherwise); a creation below it: %s",
			time.Since(emptied).Seconds(), isThere(there), outcome(refused))}, nil
}

// counter takes tickets of a queue whose counter is near its end.
func counter(ctx context.Context, at bench) ([]Fact, error) {
	c, err := dial(ctx, at.endpoints()...)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	const callers = 4
	var said, names []string
	for range callers {
		path, err := c.Create(worn+"/n", nil, zk.FlagEphemeralSequential, anybody)
		name := strings.TrimPrefix(path, worn+"/")
		switch {
		case err == nil:
			said, names = append(said, name), append(names, name)
		case errors.Is(err, zk.ErrNodeExists):
			said = append(said, outcome(err))
		default:
			return nil, err
		}
	}
	for _, name := range names {
		if err := c.Delete(worn+"/"+name, -1); err != nil {
			return nil, err
		}
	}
	again, err := c.Create(worn+"/n", nil, zk.FlagEphemeralSequential, anybody)
	if err != nil {
		return nil, err
	}
	again = strings.TrimPrefix(again, worn+"/")
	return []Fact{
		{"the-last-number-is-followed", len(names) == callers, fmt.Sprintf("%s in a row: %s", english.Count(callers, "creation"), strings.Join(said, ", "))},
		{"a-number-is-given-once", !slices.Contains(names, again), "when these nodes were deleted, the next one is " + again},
		{"numbers-grow", slices.IsSorted(append(names, again)), "sorted by name: " + strings.Join(slices.Sorted(slices.Values(append(names, again))), ", ")},
	}, nil
}

func outcome(err error) string {
	if err == nil {
		return "accepted"
	}
	return "refused (" + strings.TrimPrefix(err.Error(), "zk: ") + ")"
}

func isThere(there bool) string {
	if there {
		return "is there"
	}
	return "is gone"
}

func sleep(ctx context.Context, d time.Duration) error { return lb.HostClock{}.Sleep(ctx, d) }
