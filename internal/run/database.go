package run

import (
	"context"
	"fmt"
	"os"

	"github.com/lockbench/lockbench/lab"
)

// startDatabase starts what keeps the fenced copy of the protected store, if anything
// does, on hosts of its own that no fault strikes, and returns how the store is told.
func (s *stage) startDatabase(ctx context.Context) (told []string, err error) {
	if s.plan.Store == "" {
		return nil, nil
	}
	kind, err := s.catalog.Store(s.plan.Store)
	if err != nil {
		return nil, fmt.Errorf("the store: %w", err)
	}
	topology, err := s.catalog.Topology(kind.Topology)
	if err != nil {
		return nil, fmt.Errorf("the store in %s: %w", kind.Name, err)
	}
	database, err := lab.StartService(ctx, s.lab, topology, lab.Options{
		Prefix: "store-", // the lock's own may be of the same kind
		Log:    func(name string) (*os.File, error) { return s.dir.OpenLog(name) },
	})
	if err != nil {
		return nil, fmt.Errorf("the store in %s: %w", kind.Name, err)
	}
	return []string{kind.Name, database.Endpoints()[0]}, nil
}
