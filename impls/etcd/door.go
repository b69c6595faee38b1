package etcd

import (
	"context"
	"strconv"
	"sync/atomic"

	lb "github.com/lockbench/lockbench"
	backend "github.com/lockbench/lockbench/backends/etcd"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
)

// door is where everything that one client sends passes, its own requests and those
// that the library makes by itself: it is put inside of the library's retries, so
// that each request on the wire is one [lb.Env.Send].
type door struct {
	env    *lb.Env // nil while the connection is set up
	latest atomic.Pointer[lb.Request]
}

// call is what the requests under a context are for, and what became of them.
type call struct {
	req  lb.Request
	name string // "" for that of the method
	sent int    // requests that have left
	last any    // the newest reply
}

type callKey struct{}

// in is ctx for the library's functions.
func (c *call) in(ctx context.Context) context.Context { return context.WithValue(ctx, callKey{}, c) }

// For is ctx for the library's functions, which then send their requests for req.
func For(ctx context.Context, req lb.Request) context.Context { return (&call{req: req}).in(ctx) }

// as is [For] with another name than the method's.
func as(ctx context.Context, req lb.Request, name string) context.Context {
	return (&call{req: req, name: name}).in(ctx)
}

// unary sends a request that has one answer. One that nobody has asked for is how
// the library cleans up after the latest that somebody did.
func (d *door) unary(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	if d.env == nil {
		return invoke(ctx, method, req, reply, cc, opts...)
	}
	c, asked := ctx.Value(callKey{}).(*call)
	if asked {
		d.latest.Store(&c.req)
	} else {
		c, ctx = &call{req: d.served()}, lb.As(ctx, lb.CleanUp)
	}
	name := c.name
	if name == "" {
		name = backend.RequestOf(method)
	}
	return d.env.Send(ctx, c.req, name, func(ctx context.Context) error {
		c.sent++
		c.last = reply
		err := invoke(ctx, method, req, reply, cc, opts...)
		if lease, ok := reply.(*etcdserverpb.LeaseGrantResponse); ok && err == nil {
			d.env.Session(strconv.FormatInt(lease.ID, 16))
		}
		return err
	})
}

func (d *door) served() lb.Request {
	if req := d.latest.Load(); req != nil {
		return *req
	}
	return lb.Request{}
}

// stream sends the messages of a stream, each of which is a request.
func (d *door) stream(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	s, err := open(ctx, desc, cc, method, opts...)
	if err != nil || d.env == nil {
		return s, err
	}
	return &messages{s, d}, nil
}

type messages struct {
	grpc.ClientStream
	door *door
}

// SendMsg returns when the message has left: its answer comes when it comes, and to
// somebody else.
func (m *messages) SendMsg(message any) error {
	ctx, req, name := m.Context(), m.door.served(), "watch"
	switch message := message.(type) {
	case *etcdserverpb.LeaseKeepAliveRequest:
		ctx, req, name = lb.As(ctx, lb.Renewal), lb.Request{}, "keep-alive"
		if c, ok := ctx.Value(callKey{}).(*call); ok {
			req = c.req
		}
	case *etcdserverpb.WatchRequest:
		if message.GetCancelRequest() != nil {
			name = "unwatch"
		}
	}
	return m.door.env.Send(ctx, req, name, func(context.Context) error { return m.ClientStream.SendMsg(message) })
}
