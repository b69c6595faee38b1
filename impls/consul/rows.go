package consul

import (
	"time"

	lb "github.com/lockbench/lockbench"
)

// Session is the lock that Consul's documentation describes for leader election:
//
//	session create, with a TTL; renew it every third of that
//	kv acquire lock                       false: held
//	kv get lock                           its LockIndex, which is the token
//	kv get lock, when it has changed      nobody's: acquire again
//	kv release lock
//
// A session that has ended lets go of its locks, and for 15 seconds then, its lock-delay, nobody is granted them: "a
// safeguard", by which a holder that lives has the time to find out. A session ends at the earliest after its TTL, and
// usually after twice that; at once where its server's node is taken for dead, or somebody destroys it.
//
// The LockIndex counts the grants of a lock, and begins anew with a key that was deleted. What Consul calls a sequencer is
// it, the key, and the session's name: whoever gets one can ask Consul whether it is still that of the holder.
func Session() lb.Impl {
	return algorithm{info: info("consul-session", "a key acquired in a session with a TTL; Consul's own lock-delay, 15 s", patientTTL, delayedExpect())}
}

// NoDelay is [Session] without a lock-delay.
func NoDelay() lb.Impl {
	return algorithm{delay: "0s", info: info("consul-session-nodelay", "a key acquired in a session with a TTL; no lock-delay", leastTTL, expect())}
}

const (
	// leastTTL is that of sessions on servers as they come.
	leastTTL = 10 * time.Second
	// patientTTL is one by whose measure a lock is not stuck that comes back after two of them and a lock-delay.
	patientTTL = 16 * time.Second
)

func info(name, doc string, least time.Duration, expect []lb.Expectation) lb.Info {
	return lb.Info{
		Name: name, Doc: doc, Source: `Consul documentation, "Sessions and Distributed Locks" and "Application leader election"`,
		Topologies: []string{"consul", "consul-3"},
		Requests:   []string{"acquire", "get", "watch", "release", "renew", "create", "destroy"},
		Reads:      []string{"get", "watch"},
		Own:        []string{"renew", "create"},
		Takes:      "acquire",
		MinTTL:     least,
		Traits:     lb.Traits{Fenced: true, Leased: true, Renewing: true, Push: true, Session: true, LostNotice: true},
		Expect:     expect,
	}
}
