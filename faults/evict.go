package faults

import "github.com/lockbench/lockbench/lab"

// evict fills the memory of servers that are a cache as well, while a client holds the
// lock, until nothing is left of what they knew: a lock's key, a queue of waiters, a counter
// of fencing tokens.
func evict() Fault {
	return underHolder(Fault{Name: "evict",
		Doc: "the memory fills while a client holds the lock; the servers evict by allkeys-lru, as a cache does"}, lab.EvictLRU)
}

// evictTTL takes only what has an end, what ends soonest first: that is the lock.
func evictTTL() Fault {
	return underHolder(Fault{Name: "evict:volatile-ttl",
		Doc: "the memory fills while a client holds the lock; the servers evict by volatile-ttl, which takes the shortest lease first"}, lab.EvictTTL)
}
