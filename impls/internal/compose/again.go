package compose

import (
	"context"
	"errors"

	lb "github.com/lockbench/lockbench"
)

// Again is a client whose releases say no more than they know when they are sent
// again. The first, whose answer was lost, may have given the lock back, and the
// second finds it free or with somebody else: that is neither a release just now nor
// a loss.
func Again(c lb.Client) lb.Client { return &again{Client: c} }

type again struct {
	lb.Client
	unanswered Held[bool] // releases, by owner
}

// Unwrap is for [lb.ValidatorOf].
func (c *again) Unwrap() lb.Client { return c.Client }

func (c *again) Release(ctx context.Context, req lb.Request) error {
	err := c.Client.Release(ctx, req)
	switch lb.AnswerOf(err) {
	case lb.AnswerUnknown:
		if !errors.Is(err, lb.ErrNotSent) {
			c.unanswered.Put(req.Owner, true)
		}
		return err
	case lb.AnswerFailed: // it gave nothing back, and says nothing of the first
		return err
	}
	if before, _ := c.unanswered.Get(req.Owner); before {
		c.unanswered.Drop(req.Owner)
		return lb.ErrReleased
	}
	return err
}
