package main

import (
	"github.com/lockbench/lockbench/backends"
	"github.com/lockbench/lockbench/lab"
)

// redisOnDisk is one Redis that has every command on its disk before it answers.
func redisOnDisk() lab.Topology {
	redis, _ := backends.Topology("redis")
	return lab.Topology{Name: "redis-on-disk", Doc: "one Redis server with appendfsync always", Servers: 1,
		Kind: lab.Kind{
			Name: "redis-on-disk", Speaks: redis.Kind.Speaks, Image: "redis", Needs: []string{"redis-server"}, Install: "apt-get install redis-server",
			Program: func(lab.Host, []lab.Host) lab.Program {
				return lab.Program{
					Port: 6379, Ready: lab.Listening,
					Argv: []string{"redis-server", "--bind", "{addr}", "--port", "{port}", "--protected-mode", "no", "--dir", "{dir}",
						"--save", "", "--appendonly", "yes", "--appendfsync", "always"},
				}
			},
		}}
}
