package run

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/lab"
)

// here is this machine, now.
func here() *lb.Machine {
	m := &lb.Machine{System: runtime.GOOS + "/" + runtime.GOARCH, Cores: runtime.NumCPU()}
	if text, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.Kernel = strings.TrimSpace(string(text))
	}
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		first, _, _ := strings.Cut(string(text), " ")
		m.Load, _ = strconv.ParseFloat(first, 64) // 0 where it is not to be had
	}
	return m
}

const module = "github.com/lockbench/lockbench"

// libraries are those that locks are made of, and the server that is built in.
var libraries = []string{
	"github.com/redis/go-redis/v9", "github.com/redis/rueidis", "github.com/go-redsync/redsync/v4", "github.com/bsm/redislock",
	"github.com/go-zookeeper/zk", "github.com/go-sql-driver/mysql", "go.etcd.io/etcd/client/v3", "go.etcd.io/etcd/server/v3",
}

// versions are those of what takes part in a run, as far as they are known.
func versions(ctx context.Context, plan lb.Plan) map[string]string {
	v := map[string]string{"go": runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
		built := map[string]string{info.Main.Path: info.Main.Version}
		for _, d := range info.Deps {
			built[d.Path] = d.Version
		}
		for _, path := range append(libraries, module) {
			if built[path] != "" {
				v[path] = built[path]
			}
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				v["revision"] = s.Value
			}
		}
	}
	if t, ok := lab.FindTopology(plan.Topology); ok && plan.Lab == LabLocal {
		if name, version := serverVersion(ctx, t.Kind); version != "" {
			v[name] = version
		}
	}
	return v
}

var known sync.Map // of servers' versions, by their programs

// serverVersion asks the server's program where that is quickly done.
func serverVersion(ctx context.Context, kind string) (name, version string) {
	switch {
	case strings.HasPrefix(kind, "redis"):
		name = "redis-server"
	case strings.HasPrefix(kind, "mariadb"):
		name = "mariadbd"
	default:
		return "", ""
	}
	if v, ok := known.Load(name); ok {
		return name, v.(string)
	}
	argv, err := lab.Resolve([]string{name, "--version"})
	if err != nil {
		return name, ""
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	text, err := exec.CommandContext(ctx, argv[0], argv[1:]...).Output()
	if err != nil {
		return name, ""
	}
	version = strings.TrimSpace(string(text))
	known.Store(name, version)
	return name, version
}
