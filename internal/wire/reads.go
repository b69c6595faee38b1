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

// OnKeys are Redis's requests that touch nothing but keys, and the connection that they come by: of one that
// has changed no key nobody else can tell, where nobody listens to a channel. A script is among them, since it
// may do no more than that.
var OnKeys = []string{
	"set", "setnx", "setex", "psetex", "getset", "getdel", "getex", "del", "unlink", "expire", "pexpire", "expireat", "pexpireat", "persist",
	"incr", "incrby", "decr", "decrby", "append", "eval", "evalsha", "multi", "exec", "discard", "hset", "hsetnx", "hdel", "hincrby",
	"sadd", "srem", "spop", "zadd", "zrem", "zremrangebyrank", "zremrangebyscore", "lpush", "rpush", "lpop", "rpop", "lrem", "rename", "renamenx",
}
