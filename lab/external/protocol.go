package external

import (
	"context"
	"net"
	"net/http"
)

// protocol is what a lab must know of a kind of server to be let in, and to leave it as it
// was found.
type protocol struct {
	// speaks is what a TLS handshake offers; ownTLS: it begins inside of the protocol.
	speaks []string
	ownTLS bool
	// login logs in on a connection to the server, for a client that has just connected, too,
	// and returns the connection that the client's is to be connected with.
	login func(r *relay, client, server net.Conn) (net.Conn, error)
	// gateway is what stands for the server where every request must say who asks.
	gateway func(r *relay) (h http.Handler, close func())
	// visit connects to the server.
	visit func(ctx context.Context, r *relay) (visit, error)
	// alone: each server keeps data of its own.
	alone bool
}

// visit is a connection to a server, to see what is there.
type visit interface {
	// answers asks something, to see whether the server answers. It ends with ctx.
	answers(ctx context.Context) error
	// version is the server's.
	version(ctx context.Context) (string, error)
	// kept are the names of what it keeps under the prefix, but for the mark; by is what that
	// says, "" where there is none.
	kept(ctx context.Context) (names []string, by string, err error)
	// take writes the mark of a run, which nobody else has written; errNotHere says that
	// this server takes no writes, but another may.
	take(ctx context.Context, by string) error
	// remove removes these; leave removes the mark, if it still says that.
	remove(ctx context.Context, names []string) error
	leave(ctx context.Context, by string) error
	close()
}

// protocols by the software that speaks them.
var protocols = map[string]protocol{
	"redis":     {login: redisLogin, visit: visitRedis, alone: true},
	"etcd":      {speaks: []string{"h2"}, login: noLogin, gateway: etcdGateway, visit: visitEtcd},
	"zookeeper": {login: zookeeperLogin, visit: visitZooKeeper},
	"mariadb":   {ownTLS: true, login: mysqlLogin, visit: visitMySQL},
}

func noLogin(_ *relay, _, server net.Conn) (net.Conn, error) { return server, nil }
