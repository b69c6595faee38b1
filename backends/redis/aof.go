package redis

import "github.com/lockbench/lockbench/lab"

// onDisk is a kind of servers that have every write on the disk before they confirm it, and are started again with it.
func onDisk() lab.Kind {
	k := alone()
	k.Name = "redis-aof"
	k.Program = func(self lab.Host, all []lab.Host) lab.Program { return durable(program(self, all)) }
	k.Durable = nil // it is so already
	k.Grows = true  // the log has every write
	k.Guest = nil   // nobody looks how a server of somebody else's keeps what it confirms
	return k
}
