package lab

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A session is what a server keeps for a client that has fallen silent, and what the
// client's locks end with: a session of ZooKeeper, a lease of etcd, a connection of
// MariaDB or PostgreSQL. Each can be ended from elsewhere, by what an operator would do; the server does
// the same when it ends one for its own reasons. [lockbench.Env.Session] says how a session
// is named.

// Sessions reports whether the servers keep sessions that can be ended.
func (t Topology) Sessions() bool { return t.Kind.End != nil }

// End ends a session, by the id that the client was told, and reports whether the servers
// still knew it. The first server that answers is asked.
func (s *Service) End(ctx context.Context, session string) (knew bool, err error) {
	for _, endpoint := range s.Endpoints() {
		end := s.Servers[0].kind.End
		if end == nil {
			return false, fmt.Errorf("%s keeps no sessions", s.Servers[0].Name())
		}
		one, cancel := context.WithTimeout(ctx, endBound)
		knew, e := end(one, endpoint, session)
		cancel()
		if e == nil {
			return knew, nil
		}
		err = errors.Join(err, e)
	}
	return false, fmt.Errorf("end the session %s: %w", session, err)
}

// endBound is how long one server may take to end a session.
const endBound = 2 * time.Second
