package run

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lockbench/lockbench/backends"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/catalog"
	"github.com/lockbench/lockbench/lab"
)

// Here is this machine, now.
func Here() *history.Machine {
	m := &history.Machine{System: runtime.GOOS + "/" + runtime.GOARCH, Cores: runtime.NumCPU()}
	if text, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.Kernel = strings.TrimSpace(string(text))
	}
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		first, _, _ := strings.Cut(string(text), " ")
		m.Load, _ = strconv.ParseFloat(first, 64) // 0 where it is not to be had
	}
	return m
}

// Module is lockbench's own.
const Module = "github.com/lockbench/lockbench"

// libraries are those that locks are made of, and the server that is built in.
var libraries = []string{
	"github.com/redis/go-redis/v9", "github.com/redis/rueidis", "github.com/go-redsync/redsync/v4", "github.com/bsm/redislock",
	"github.com/go-zookeeper/zk", "github.com/go-sql-driver/mysql", "github.com/jackc/pgx/v5", "go.etcd.io/etcd/client/v3", "go.etcd.io/etcd/server/v3",
	"github.com/nats-io/nats.go", "github.com/nats-io/nats-server/v2", "github.com/hashicorp/consul/api", "k8s.io/client-go", "github.com/pressly/goose/v3",
}

// Built is what this program was built of: the version of lockbench, of Go and of the
// libraries, by module path, and the revision of the sources, as far as they are known.
func Built() map[string]string {
	v := map[string]string{"go": runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	built := map[string]string{info.Main.Path: info.Main.Version}
	for _, d := range info.Deps {
		built[d.Path] = d.Version
	}
	for _, path := range append(slices.Clip(libraries), Module) {
		if built[path] != "" {
			v[path] = built[path]
		}
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			v["revision"] = s.Value
		}
		if s.Key == "vcs.modified" && s.Value == "true" {
			v["modified"] = "yes"
		}
	}
	return v
}

// versions are those of what takes part in a run.
func versions(ctx context.Context, c catalog.Catalog, plan history.Plan) map[string]string {
	t, err := c.Servers(plan)
	driver, err2 := c.Lab(plan.Lab, plan.Addrs)
	if err != nil || err2 != nil {
		return Built()
	}
	v := Versions(ctx, driver, t)
	if impl, err := c.Lock(plan.Algorithm); err == nil {
		if of, ok := impl.(catalog.Versioned); ok {
			maps.Copy(v, of.Versions())
		}
	}
	return v
}

// Versions are those of this program, see [Built], and of the servers of topologies in
// the lab, as far as they are known.
func Versions(ctx context.Context, driver lab.Driver, topologies ...lab.Topology) map[string]string {
	v, built := Built(), Built()
	for _, t := range backends.Topologies() {
		delete(v, t.Kind.Software.Builtin) // which need not be what runs
	}
	for _, t := range topologies {
		if len(t.Kind.Version.Command) == 0 {
			continue
		}
		if module := t.Kind.Software.Builtin; module != "" && !driver.Foreign {
			v[t.Kind.Version.Of] = built[module]
			continue
		}
		if version := serverVersion(ctx, driver, t.Kind); version != "" {
			v[t.Kind.Version.Of] = version
		}
	}
	return v
}

var known sync.Map // of servers' versions, by the lab, the image and the command that told it

// serverVersion asks the server's program, once.
func serverVersion(ctx context.Context, driver lab.Driver, k lab.Kind) string {
	program := driver.Name + " " + k.Image + " " + strings.Join(k.Version.Command, " ")
	if v, ok := known.Load(program); ok {
		return v.(string)
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second) // a machine that is busy takes its time
	defer cancel()
	text, err := driver.Ask(ctx, k, k.Version.Command)
	if err != nil {
		return ""
	}
	version, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	// Some say first how they were called, and a user's path may have numbers of its own.
	version = strings.TrimPrefix(version, filepath.Dir(k.Version.Command[0])+"/")
	known.Store(program, version)
	return version
}
