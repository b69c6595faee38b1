package etcd

import (
	"context"
	"path"

	lb "github.com/lockbench/lockbench"
	"google.golang.org/grpc"
)

// moves shows what a library does for one acquisition: every request that it
// sends under [moves.in] passes a step before and after, and its reply is kept.
type moves struct {
	env  *lb.Env
	req  lb.Request
	sent int // requests that have left
	last any // the newest reply
}

type movesKey struct{}

// in is ctx for calls of the library.
func (m *moves) in(ctx context.Context) context.Context { return context.WithValue(ctx, movesKey{}, m) }

// moveNames are the requests as the steps call them, by their gRPC methods.
var moveNames = map[string]string{"Txn": "txn", "Range": "get", "DeleteRange": "delete"}

// interceptMoves is where the library's requests pass.
func interceptMoves(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	m, ok := ctx.Value(movesKey{}).(*moves)
	name, named := moveNames[path.Base(method)]
	if !ok || !named {
		return invoke(ctx, method, req, reply, cc, opts...)
	}
	if err := m.env.Step(ctx, "before-"+name, m.req); err != nil {
		return err
	}
	m.sent++
	err := invoke(ctx, method, req, reply, cc, opts...)
	m.last = reply
	if err := m.env.Step(ctx, "after-"+name, m.req); err != nil {
		return err
	}
	return err
}
