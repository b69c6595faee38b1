package zk

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-zookeeper/zk"
	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/zksession"
)

// ticket is one acquisition's own ephemeral node, from before its creation until
// it is certainly gone.
type ticket struct {
	env     *lb.Env
	req     lb.Request
	session *zksession.Session
	entered bool       // a create was sent, at least once
	path    string     // "" while nobody knows whether there is a node
	zxid    uint64     // of the transaction that made it: the fencing token
	alive   lb.Reading // the session was alive after it, by the word of a quorum
	asked   bool       // a delete was sent, at least once
	first   bool       // of the queue: all that came before are gone

	lease   *lb.Lease
	renewal func() // ends it
}

// confirm has a transaction check that the node exists. A read would be answered
// by the one server that this client is connected to, and perhaps by one that has
// lost touch with the others; a transaction is committed by a majority. To write
// to the node would wake those who watch it, and a check changes nothing.
func (t *ticket) confirm(ctx context.Context, name string) error {
	_, err := zksession.Repeat(ctx, t.session, t.req, name, func(z *zk.Conn) ([]zk.MultiResponse, error) {
		return z.Multi(&zk.CheckVersionRequest{Path: t.path, Version: -1})
	})
	if errors.Is(err, zk.ErrNoNode) || errors.Is(err, zksession.ErrGone) {
		return fmt.Errorf("%w: %w", lb.ErrLost, err)
	}
	return err
}

// grant makes the lease, good for one session timeout after the last sign of life
// that was confirmed, and goes on giving them. The session's own pings keep it
// alive as well; but the library does not tell when they were sent.
//
// In an ensemble a follower reports its clients' signs of life to the leader
// twice a tick. If it loses the leader in between, the session may end before
// the lease, by the time since the client was last heard of before that.
func (t *ticket) grant() *lb.Lease {
	t.lease = t.env.Grant(t.req, t.zxid, t.env.Validity(t.alive))
	t.renewal = t.lease.Renew(func(ctx context.Context) error { return t.confirm(ctx, "renew") })
	return t.lease
}

func (t *ticket) stop() {
	if t.renewal != nil {
		t.renewal()
	}
}

func (t *ticket) lose(why string) {
	if t.lease != nil {
		t.lease.Lose(why)
	}
}

// remove deletes the node. Once a delete has gone out, what bears the name may be
// another's, and is looked at before each other. Nobody but this session deletes the
// node, or ends: where it is gone and the session is not over, it was our own delete
// that was carried out, and the node was there until then.
func (t *ticket) remove(ctx context.Context) error {
	ctx, cancel := t.env.WithTimeout(ctx, t.session.Timeout())
	defer cancel()
	again, seen := t.asked, false // by an earlier call; by this one
	for {
		asked, mine := t.asked, true
		var err error
		if asked {
			mine, err = t.mine(ctx)
			seen = seen || mine
		}
		gone := err == nil && !mine
		if err == nil && mine {
			_, err = zksession.Do(ctx, t.session, t.req, "delete", func(z *zk.Conn) (struct{}, error) {
				return struct{}{}, z.Delete(t.path, -1)
			})
			t.asked = t.asked || !errors.Is(err, lb.ErrNotSent)
			gone = errors.Is(err, zk.ErrNoNode)
		}
		switch over := errors.Is(err, zksession.ErrGone); {
		case gone && (seen || asked && !again):
			return nil
		case gone && asked, over && t.asked:
			t.lose("the node is gone")
			return lb.ErrReleased
		case gone, over:
			t.lose("the node is gone: the session had ended")
			return lb.ErrLost
		case !zksession.Unanswered(err) || ctx.Err() != nil:
			return err
		}
	}
}

// mine asks whether the node is still the one that this ticket made.
func (t *ticket) mine(ctx context.Context) (bool, error) {
	if err := t.sync(ctx, t.path); err != nil {
		return false, err
	}
	stat, err := zksession.Repeat(ctx, t.session, t.req, "look", func(z *zk.Conn) (*zk.Stat, error) {
		_, stat, err := z.Exists(t.path)
		return stat, err
	})
	if err != nil {
		return false, err
	}
	return stat != nil && uint64(stat.Czxid) == t.zxid, nil
}

// sync makes the server that is asked next know all that the leader has committed,
// and that the session was not over then.
func (t *ticket) sync(ctx context.Context, path string) error {
	_, err := zksession.Repeat(ctx, t.session, t.req, "sync", func(z *zk.Conn) (string, error) { return z.Sync(path) })
	return err
}

// release is the release of every algorithm whose lock is a node of its own.
func (c *client) release(ctx context.Context, req lb.Request, find func(context.Context, *ticket) error) error {
	t, ok := c.held.Get(req.Owner)
	if !ok {
		return lb.ErrLost
	}
	t.stop()
	var err error
	if t.path == "" {
		err = find(ctx, t)
	}
	if err == nil && t.path != "" {
		err = t.remove(ctx)
	} else if err == nil || errors.Is(err, zksession.ErrGone) {
		err = lb.ErrLost
	}
	if lb.AnswerOf(err) == lb.AnswerUnknown {
		return fmt.Errorf("zk: release: %w", err)
	}
	c.held.Drop(req.Owner)
	return err
}

// leave gives up an acquisition: whatever went wrong, its node must go,
// or the others would wait for it; and not by the context that may just have ended.
func (c *client) leave(ctx context.Context, req lb.Request, cause error, release func(context.Context, lb.Request) error) error {
	if t, ok := c.held.Get(req.Owner); ok && !t.entered {
		c.held.Drop(req.Owner)
		return lb.NoEffect(cause)
	}
	ctx, cancel := c.env.Detached(ctx)
	defer cancel()
	switch err := release(ctx, req); {
	case lb.AnswerOf(err) == lb.AnswerUnknown:
		return fmt.Errorf("zk: give up (%v): %w", cause, err)
	case errors.Is(cause, lb.ErrHeld):
		return cause
	}
	return lb.NoEffect(cause)
}

// sequence is the end of a sequential node's name: ten digits, counted by the
// server.
func sequence(name string) string { return name[max(0, len(name)-sequenceSize):] }

const sequenceSize = 10

// number is the sequence as a number, -1 where it is none.
func number(path string) int {
	n, err := strconv.Atoi(sequence(path))
	if err != nil {
		return -1
	}
	return n
}

// named reports whether the server made the node's name from this prefix.
func named(name, prefix string) bool {
	return len(name) == len(prefix)+sequenceSize && strings.HasPrefix(name, prefix)
}
