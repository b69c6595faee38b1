package lockbench

import "context"

// Exclusive is a client that refuses the shared mode, with [ErrUnsupported], for an algorithm that has
// none.
func Exclusive(c Client) Client { return exclusive{c} }

type exclusive struct{ Client }

// Unwrap is for [ValidatorOf].
func (c exclusive) Unwrap() Client { return c.Client }

func (c exclusive) Acquire(ctx context.Context, req Request) (*Lease, error) {
	if req.Shared {
		return nil, ErrUnsupported
	}
	return c.Client.Acquire(ctx, req)
}
