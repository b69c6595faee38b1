package sqllock

import (
	"context"
	"fmt"

	lb "github.com/lockbench/lockbench"
)

// Algorithm is an lb.Impl made of its description, its tables, and its way to open a client.
type Algorithm struct {
	Database
	About  lb.Info
	Tables []string // as statements that create them where they don't exist
	Client func(context.Context, Session) (lb.Client, error)
}

// Info implements [lb.Impl].
func (a Algorithm) Info() lb.Info { return a.About }

// Open implements [lb.Impl].
func (a Algorithm) Open(ctx context.Context, env *lb.Env) (lb.Client, error) {
	s, err := a.Dial(ctx, env)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.Name, err)
	}
	var c lb.Client
	if err = s.Create(ctx, a.Tables); err != nil {
		err = fmt.Errorf("create a table: %w", err)
	} else {
		c, err = a.Client(ctx, s)
	}
	if err != nil {
		_ = s.Close()
		return nil, fmt.Errorf("%s: %w", a.Name, err)
	}
	return lb.Exclusive(lb.Again(c)), nil
}
