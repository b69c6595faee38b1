package compose

import (
	"context"

	lb "github.com/lockbench/lockbench"
)

// Exclusive refuses the shared mode for an algorithm that has none.
func Exclusive(c lb.Client) lb.Client { return exclusive{c} }

type exclusive struct{ lb.Client }

// Unwrap is for [lb.ValidatorOf].
func (c exclusive) Unwrap() lb.Client { return c.Client }

func (c exclusive) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	if req.Shared {
		return nil, lb.ErrUnsupported
	}
	return c.Client.Acquire(ctx, req)
}
