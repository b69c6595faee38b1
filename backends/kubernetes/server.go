package kubernetes

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/lockbench/lockbench/backends/etcd"
	"github.com/lockbench/lockbench/backends/internal/web"
	"github.com/lockbench/lockbench/backends/kubernetes/controlplane"
	"github.com/lockbench/lockbench/lab"
)

// store is the kind of what the servers stand on.
var store = etcd.Member()

const (
	frontPort = 8001 // as `kubectl proxy` has it
	ofBinary  = 4    // its place in the command
)

// program is one machine: its etcd is started as the backend etcd's are.
func program(self lab.Host, all []lab.Host) lab.Program {
	below := store.Program(self, all)
	joins := controlplane.Joins
	if self.Name() == all[0].Name() {
		joins = controlplane.First
	}
	argv := []string{"control-plane", joins, "{addr}:{port}", "{dir}/kubernetes", binary, "--"}
	for _, flag := range below.Argv[1:] {
		argv = append(argv, strings.ReplaceAll(flag, "{port}", strconv.Itoa(controlplane.StorePort)))
	}
	return lab.Program{Builtin: true, Argv: argv, Port: frontPort, Ready: ready}
}

// ready is a server that knows the namespace of locks: before that it makes nothing in it.
func ready(ctx context.Context, endpoint string) error {
	_, _, err := web.Ask(ctx, web.Once, http.MethodGet, "http://"+endpoint+"/api/v1/namespaces/"+Namespace, "")
	return err
}

// below is where the etcd of a server answers.
func below(endpoint string) string {
	host, _, _ := net.SplitHostPort(endpoint) // what is none is nobody's
	return net.JoinHostPort(host, strconv.Itoa(controlplane.StorePort))
}

// leads reports whether the server's etcd leads.
func leads(ctx context.Context, endpoint string) (bool, error) {
	return store.Leads(ctx, below(endpoint))
}

// replace has another etcd join in the place of one that is gone.
func replace(ctx context.Context, at lab.Target, gone string) (func(lab.Program) lab.Program, error) {
	at.Endpoint = below(at.Endpoint)
	return store.Replace(ctx, at, gone)
}

// commands are what people do to its etcd, and to what is kept there.
func commands() map[lab.Operation]lab.Command {
	all := map[lab.Operation]lab.Command{lab.FlushAll: deleteAll}
	for o, command := range store.Commands {
		all[o] = func(ctx context.Context, at lab.Target) (lab.Effect, error) {
			at.Endpoint = below(at.Endpoint)
			return command(ctx, at)
		}
	}
	return all
}
