package lab

import (
	"context"
	"fmt"
	"time"
)

// Keeps is what a server keeps for its clients at this moment: how much of what, by the names that
// its own tools have for it.
type Keeps map[string]int

// Keeps asks the server for it. A kind that can't say keeps nothing.
func (s *Server) Keeps(ctx context.Context) (Keeps, error) {
	if s.kind.Keeps == nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, keepsBound)
	defer cancel()
	k, err := s.kind.Keeps(ctx, s.Endpoint())
	if err != nil {
		return nil, fmt.Errorf("ask %s what it keeps: %w", s.Name(), err)
	}
	return k, nil
}

// keepsBound is how long a server may take to say.
const keepsBound = 2 * time.Second
