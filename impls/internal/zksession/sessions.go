package zksession

import (
	"context"
	"sync"

	lb "github.com/lockbench/lockbench"
)

// Sessions are those of one client, one after the end of another. The zero value has
// none yet.
type Sessions struct {
	mu   sync.Mutex
	last *Session
}

// Current is the last session, or a new one if that is over.
func (s *Sessions) Current(ctx context.Context, env *lb.Env) (*Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last != nil {
		select {
		case <-s.last.Gone():
		default:
			return s.last, nil
		}
	}
	next, err := Open(ctx, env)
	if err == nil {
		s.last = next
	}
	return next, err
}

// Close ends the last session, as [Session.Close] does.
func (s *Sessions) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last != nil {
		s.last.Close()
	}
}
