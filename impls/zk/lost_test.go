package zk_test

import (
	"context"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	gozk "github.com/go-zookeeper/zk"
	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/zk"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
)

// The requests of ZooKeeper's protocol whose reply a test loses.
const (
	opCreate = 1
	opDelete = 2
)

// TestLostReply loses the reply of a create and of a delete that the server
// carried out: the node must be found again, with its token, and no other made.
func TestLostReply(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	server := labtest.Endpoints(labtest.Servers(t, "zookeeper"))[0]
	direct, _, err := gozk.Connect([]string{server}, 10*time.Second, gozk.WithLogInfo(false))
	if err != nil {
		t.Fatal(err)
	}
	defer direct.Close()
	for _, tt := range []struct {
		impl   lb.Impl
		parent string // of the nodes
	}{
		{zk.Herd(), "/lockbench-herd"},
		{zk.Sequential(), "/lockbench-sequential/_lost"},
		{zk.Container(), "/lockbench-container/_lost"},
		{zk.RW(), "/lockbench-rw/_lost"},
	} {
		t.Run(tt.impl.Info().Name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			relay := newRelay(t, server)
			env := &lb.Env{Client: "c", Servers: []string{relay.addr}, TTL: 10 * time.Second, Clock: lb.HostClock{}, Rand: rand.New(rand.NewPCG(1, 1))}
			c, err := tt.impl.Open(ctx, env)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			first := lb.Request{Lock: "lost", Owner: "first"} // makes the parents
			if _, err := c.Acquire(ctx, first); err != nil {
				t.Fatal(err)
			}
			if err := c.Release(ctx, first); err != nil {
				t.Fatal(err)
			}
			req := lb.Request{Lock: "lost", Owner: url.PathEscape("second/owner")}
			relay.lose.Store(opCreate)
			lease, err := c.Acquire(ctx, req)
			if err != nil {
				t.Fatalf("acquire without its reply: %v", err)
			}
			nodes, _, err := direct.Children(tt.parent)
			if err != nil || len(nodes) != 1 {
				t.Fatalf("%s has the nodes %q (%v), want one", tt.parent, nodes, err)
			}
			_, stat, err := direct.Get(tt.parent + "/" + nodes[0])
			if err != nil || lease.Token != uint64(stat.Czxid) {
				t.Errorf("token %#x of a node made by transaction %#x (%v)", lease.Token, stat.Czxid, err)
			}
			relay.lose.Store(opDelete)
			if err := c.Release(ctx, req); err != nil {
				t.Errorf("release without its reply: %v", err)
			}
			if relay.lost.Load() != 2 {
				t.Errorf("%d replies were lost, want 2", relay.lost.Load())
			}
			// The server removes a container that is empty.
			if nodes, _, err := direct.Children(tt.parent); err != nil && err != gozk.ErrNoNode || len(nodes) != 0 {
				t.Errorf("after the release there are the nodes %q (%v)", nodes, err)
			}
		})
	}
}

// TestLostReplyOfADelete lets somebody else take the lock after a delete whose reply
// was lost: the node is the next one's, and must not be deleted again.
func TestLostReplyOfADelete(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	server := labtest.Endpoints(labtest.Servers(t, "zookeeper"))[0]
	direct, _, err := gozk.Connect([]string{server}, 10*time.Second, gozk.WithLogInfo(false))
	if err != nil {
		t.Fatal(err)
	}
	defer direct.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	relay := newRelay(t, server)
	env := &lb.Env{Client: "c", Servers: []string{relay.addr}, TTL: 10 * time.Second, Clock: lb.HostClock{}, Rand: rand.New(rand.NewPCG(1, 1))}
	c, err := zk.Herd().Open(ctx, env)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	req := lb.Request{Lock: "next", Owner: "first"}
	if _, err := c.Acquire(ctx, req); err != nil {
		t.Fatal(err)
	}
	taken := make(chan error, 1)
	relay.stay.Store(true)
	go func() {
		defer relay.cut.Store(false)
		for relay.lost.Load() == 0 && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		for ctx.Err() == nil {
			if _, err := direct.Create("/lockbench-herd/_next", []byte("next"), gozk.FlagEphemeral, gozk.WorldACL(gozk.PermAll)); err != gozk.ErrNodeExists {
				taken <- err
				return
			}
		}
	}()
	relay.lose.Store(opDelete)
	if err := c.Release(ctx, req); err != nil {
		t.Errorf("release without its reply: %v", err)
	}
	if err := <-taken; err != nil {
		t.Fatal(err)
	}
	if data, _, err := direct.Get("/lockbench-herd/_next"); err != nil || string(data) != "next" {
		t.Errorf("the node of the next owner holds %q (%v)", data, err)
	}
}

// TestExpiredSession cuts a holder off until its session has ended: it must be
// told, must not be believed afterwards, and gets the lock anew with a higher token.
func TestExpiredSession(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	server := labtest.Endpoints(labtest.Servers(t, "zookeeper"))[0]
	for _, impl := range []lb.Impl{zk.Herd(), zk.Sequential(), zk.Container(), zk.RW()} {
		t.Run(impl.Info().Name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			relay := newRelay(t, server)
			env := &lb.Env{Client: "c", Servers: []string{relay.addr}, TTL: 600 * time.Millisecond, Clock: lb.HostClock{}, Rand: rand.New(rand.NewPCG(1, 1))}
			c, err := impl.Open(ctx, env)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			old := lb.Request{Lock: "expired", Owner: "old"}
			lease, err := c.Acquire(ctx, old)
			if err != nil {
				t.Fatal(err)
			}
			relay.cut.Store(true)
			select {
			case <-lease.Lost():
			case <-ctx.Done():
				t.Fatal("the holder was not told")
			}
			time.Sleep(2 * env.TTL)
			relay.cut.Store(false)
			again, err := c.Acquire(ctx, lb.Request{Lock: "expired", Owner: "new"})
			for ; err != nil && ctx.Err() == nil; again, err = c.Acquire(ctx, lb.Request{Lock: "expired", Owner: "new"}) {
			}
			if err != nil {
				t.Fatal(err)
			}
			if again.Token <= lease.Token {
				t.Errorf("token %d after %d", again.Token, lease.Token)
			}
			if err := c.Release(ctx, old); lb.AnswerOf(err) != lb.AnswerLost {
				t.Errorf("the release of what was lost: %v", err)
			}
			if !again.Valid() {
				t.Error("and the new lease is not valid after it")
			}
			if err := c.Release(ctx, again.Request); err != nil {
				t.Error(err)
			}
		})
	}
}

// relay stands between a client and a server. It passes messages on, and loses
// replies: the connection breaks when the server has answered.
type relay struct {
	addr   string
	server string
	lose   atomic.Int32 // the operation whose next reply is lost
	lost   atomic.Int32
	cut    atomic.Bool // nothing passes
	stay   atomic.Bool // cut, once a reply is lost
}

func newRelay(t *testing.T, server string) *relay {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	r := &relay{addr: l.Addr().String(), server: server}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go r.serve(c)
		}
	}()
	return r
}

func (r *relay) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", r.server)
	if err != nil || r.cut.Load() {
		return
	}
	defer server.Close()
	var broken atomic.Bool
	go func() {
		defer client.Close()
		for {
			m, err := message(server)
			if err != nil || r.cut.Load() {
				return
			}
			if broken.Load() {
				r.cut.Store(r.stay.Load())
				r.lost.Add(1)
				return
			}
			if _, err := client.Write(m); err != nil {
				return
			}
		}
	}()
	for {
		m, err := message(client)
		if err != nil || r.cut.Load() {
			return
		}
		if len(m) >= 12 {
			if op := int32(binary.BigEndian.Uint32(m[8:])); op != 0 && r.lose.CompareAndSwap(op, 0) {
				broken.Store(true)
			}
		}
		if _, err := server.Write(m); err != nil {
			return
		}
	}
}

// message reads a length and as many bytes.
func message(r io.Reader) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return nil, err
	}
	m := append(length[:], make([]byte, binary.BigEndian.Uint32(length[:]))...)
	_, err := io.ReadFull(r, m[4:])
	return m, err
}
