// Package redis is Redis as a backend: its servers and Sentinels, and what people do to them, and how lockbench is let
// in by those that somebody else runs. Its locks are in impls/redis.
package redis

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/lab"
)

// Topologies are those of Redis.
func Topologies() []lab.Topology {
	return []lab.Topology{
		{Name: "redis", Doc: "one Redis server", Kind: single, Servers: 1, Ensembles: &lab.Ensembles{Title: "Redlock", Algorithm: "redlock"}},
		{Name: "redis-aof", Doc: "one Redis server that has every write on its disk before it confirms it", Kind: aof, Servers: 1},
		{Name: "redis-5", Doc: "five independent Redis servers", Kind: single, Servers: 5},
		{Name: "redis-5-delayed", Doc: "five independent Redis servers; one that crashed stays down for longer than any lease", Kind: single, Servers: 5, Delayed: true},
		{Name: "redis-sentinel", Doc: "a Redis master, two replicas and three Sentinels", Kind: replicas, Servers: 3, Sentinels: 3, Watchers: sentinel, Master: sentinelMaster},
		{Name: "redis-cluster", Doc: "a Redis Cluster of three masters, each with a replica", Kind: cluster, Servers: clusterServers},
	}
}

// The kinds of servers.
var (
	single   = alone()
	aof      = onDisk()
	replicas = replicated()
	cluster  = clustered()
	sentinel = lab.Kind{Name: "sentinel", Speaks: Language, Image: image, Needs: needs, Install: install, Version: serverVersion,
		Program: sentinelProgram, Commands: sentinelCommands, Names: sentinelNames}
)

// server is a kind of Redis servers that run like this.
func server(name string, program func(lab.Host, []lab.Host) lab.Program) lab.Kind {
	return lab.Kind{
		Name: name, Image: image, Software: software, Version: serverVersion, Speaks: Language, Guest: Guest(), Yardstick: Yardstick,
		Needs: needs, Install: install,
		Program: program, Durable: durable,
		Clock: clock, Sweep: sweep, Keeps: keeps, Commands: commands,
	}
}

// alone is a kind of servers that know of no others.
func alone() lab.Kind {
	k := server("redis", program)
	k.Counts = counts
	return k
}

// replicated is a kind of servers of which one leads.
func replicated() lab.Kind {
	k := server("redis-replicas", replica)
	k.Leads = leads
	return k
}

const (
	image   = "redis=redis:7"
	install = "apt-get install redis-server"
)

var (
	needs         = []string{"redis-server"}
	serverVersion = lab.Version{Of: "redis-server", Command: []string{"redis-server", "--version"}}
)

// software takes options by the names that redis.conf has for them.
var software = lab.Software{Name: "redis",
	Option: func(p lab.Program, name, value string) lab.Program {
		p.Argv = append(slices.Clip(p.Argv), "--"+name)
		if words := strings.Fields(value); len(words) > 0 {
			p.Argv = append(p.Argv, words...)
		} else {
			p.Argv = append(p.Argv, "")
		}
		return p
	},
	Binary: func(p lab.Program, path string) lab.Program {
		p.Argv = append([]string{path}, p.Argv[1:]...)
		return p
	}}

// keeps counts keys and scripts.
func keeps(ctx context.Context, endpoint string) (k lab.Keeps, err error) {
	const bound = 2 * time.Second
	err = ask(endpoint, bound, func(c *redis.Client) error {
		keys, err := c.DBSize(ctx).Result()
		if err != nil {
			return err
		}
		memory, err := section(ctx, c, "memory")
		if err != nil {
			return err
		}
		scripts, err := strconv.Atoi(memory["number_of_cached_scripts"])
		if err != nil {
			err = fmt.Errorf("how many scripts are cached: %w", err)
		}
		k = lab.Keeps{"keys": int(keys), "scripts": scripts}
		return err
	})
	return k, err
}
