package lab

import (
	"context"
	"fmt"
)

// Members reports whether the servers' ensemble takes a new member while it runs.
func (t Topology) Members() bool { return t.Servers > 1 && t.Kind.Replace != nil }

// Replace has the other servers take a new member in the place of the named one, which is
// down, and has that start as such from now on.
func (s *Service) Replace(ctx context.Context, name string) error {
	for _, gone := range s.Servers {
		if gone.Name() != name {
			continue
		}
		for _, other := range s.Servers {
			if other == gone || gone.kind.Replace == nil {
				continue
			}
			change, err := gone.kind.Replace(ctx, Target{Endpoint: other.Endpoint()}, name)
			if err != nil {
				return fmt.Errorf("replace %s: %w", name, err)
			}
			gone.program = change(gone.program)
			return nil
		}
	}
	return fmt.Errorf("%s can't be replaced", name)
}
