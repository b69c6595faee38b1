package redis

import (
	"strings"

	"github.com/lockbench/lockbench/internal/wire"
)

// Language is what Redis and its Sentinels speak: RESP, version 2 or 3. Subscribing to a channel is no
// read, since PUBLISH answers how many have. A script touches keys only, since it may do no more than that.
var Language = wire.Language{
	Name: "redis", Begin: func() wire.Protocol { return &protocol{} },
	Reads: []string{"exists", "get", "ttl", "pttl", "strlen", "type", "mget", "getrange", "hget", "hmget", "hgetall", "hexists", "hlen",
		"llen", "lindex", "lrange", "scard", "sismember", "smembers", "zcard", "zscore", "zrank", "zrange", "zcount", "time", "dbsize",
		"watch", "unwatch"}, // where they are about keys
	OnKeys: []string{"set", "setnx", "setex", "psetex", "getset", "getdel", "getex", "del", "unlink", "expire", "pexpire", "expireat",
		"pexpireat", "persist", "incr", "incrby", "decr", "decrby", "append", "eval", "evalsha", "multi", "exec", "discard", "hset", "hsetnx",
		"hdel", "hincrby", "sadd", "srem", "spop", "zadd", "zrem", "zremrangebyrank", "zremrangebyscore", "lpush", "rpush", "lpop", "rpop",
		"lrem", "rename", "renamenx"},
}

// protocol reads commands, each by itself where several are sent together, and their answers,
// which come in the same order. A transaction, from MULTI to EXEC, is one request.
type protocol struct {
	values      [2]values
	asked       []command // oldest first
	transaction bool
	subscribed  bool // in RESP2, where messages look like answers
}

// command is one that is not answered yet.
type command struct {
	name    string
	request bool
	answers int // to come
	begun   bool
}

// Length has commands as arrays only: who sends them inline is not read.
func (r *protocol) Length(who wire.Side, unread []byte) int {
	if who == wire.Client && unread[0] != '*' {
		return wire.Nonsense
	}
	return r.values[who].length(unread)
}

func (r *protocol) Read(who wire.Side, message []byte) ([]wire.Message, wire.Protocol) {
	size, first := opening(message)
	switch {
	case who == wire.Server:
		return r.answer(message, first), r
	case size > 0 && first == "":
		return nil, wire.Raw{}
	case size <= 0:
		return nil, r // the server ignores it
	}
	return r.ask(first, size-1), r
}

func (r *protocol) ask(name string, arguments int) []wire.Message {
	c := command{name: name, answers: 1}
	switch name {
	case "multi":
		r.transaction = true
	case "exec", "discard":
		r.transaction = false
	}
	if aboutChannels[name] {
		c.answers = max(1, arguments) // one for each channel
	}
	c.request = !r.transaction && !setsUp[name]
	r.asked = append(r.asked, c)
	return c.note(false)
}

// note is what there is to say where it is asked, and where it is answered.
func (c command) note(failed bool) []wire.Message {
	if !c.request {
		return nil
	}
	return []wire.Message{{Request: c.name, Failed: failed}}
}

// answer gets one whose first element is topic, where it has elements.
func (r *protocol) answer(b []byte, topic string) []wire.Message {
	if len(r.asked) == 0 {
		return nil
	}
	c := &r.asked[0]
	confirms := aboutChannels[topic] && c.name == topic
	switch {
	case confirms && b[0] == '*':
		r.subscribed = true
	case !confirms && (b[0] == '>' || r.subscribed && (aboutChannels[topic] || fromChannels[topic])):
		return nil // nobody asked
	}
	first := !c.begun
	c.begun = true
	c.answers--
	if c.answers == 0 || !confirms {
		r.asked = r.asked[1:]
	}
	if !first {
		return nil
	}
	return c.note(refusal(b))
}

// refusal reports whether an answer is an error, or nothing, which is how Redis says that
// it did not set, and how scripts say no.
func refusal(b []byte) bool {
	begin := string(b[:min(len(b), 3)])
	return strings.Contains("-!_", begin[:1]) || begin == "$-1" || begin == "*-1"
}

// setsUp are the commands that are no requests: they set up a connection, look whether it
// is there, or end it.
var setsUp = map[string]bool{"hello": true, "auth": true, "select": true, "client": true, "readonly": true, "ping": true, "quit": true,
	"command": true, "info": true, "cluster": true, "asking": true}

// aboutChannels are the commands that are answered for each channel. Such an answer may
// also come unasked.
var aboutChannels = map[string]bool{"subscribe": true, "psubscribe": true, "ssubscribe": true,
	"unsubscribe": true, "punsubscribe": true, "sunsubscribe": true}

// fromChannels are what is sent without being asked.
var fromChannels = map[string]bool{"message": true, "pmessage": true, "smessage": true}
