package wire

// Reads are requests that change nothing on any server, whatever they carry: their protocol makes them
// reads. MySQL has none: a SELECT may take a lock. Nor is subscribing to a channel of Redis one, since
// PUBLISH answers how many have.
var Reads = []string{
	"exists", "get", // of Redis and ZooKeeper alike
	"ttl", "pttl", "strlen", "type", "mget", "getrange", "hget", "hmget", "hgetall", "hexists", "hlen", "llen", "lindex", "lrange",
	"scard", "sismember", "smembers", "zcard", "zscore", "zrank", "zrange", "zcount", "time", "dbsize", // Redis
	"children", "sync", "check-watches", // ZooKeeper
	watch, unwatch, // etcd, and Redis, where they are about keys
}

// KeepAlives are requests that keep a session or a lease alive, and nothing else.
var KeepAlives = []string{ping, keepAlive}
