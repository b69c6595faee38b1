package zksession

import "sync"

// hosts goes round the servers, in the order it is given. The library's own
// takes the first attempt to reconnect to an only server for the second, and
// waits for a second before it: with a short session that is the session's end.
type hosts struct {
	mu      sync.Mutex
	servers []string
	next    int
	tried   int // since the last connection
}

func (h *hosts) Init(servers []string) error {
	h.servers = servers
	return nil
}

func (h *hosts) Len() int { return len(h.servers) }

// Next implements [zk.HostProvider]; retryStart makes the library rest for a second.
func (h *hosts) Next() (server string, retryStart bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	server, retryStart = h.servers[h.next], h.tried > 0 && h.tried%len(h.servers) == 0
	h.next = (h.next + 1) % len(h.servers)
	h.tried++
	return server, retryStart
}

func (h *hosts) Connected() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tried = 0
}
