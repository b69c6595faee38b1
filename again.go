package lockbench

import (
	"context"
	"errors"
)

// Again is a client whose releases say no more than they know when they are sent
// again. The first, whose answer was lost, may have given the lock back, and the
// second finds it free or with somebody else: that is neither a release just now nor
// a loss, but [ErrReleased].
func Again(c Client) Client { return &again{Client: c} }

type again struct {
	Client
	unanswered Held[bool] // releases, by owner
}

// Unwrap is for [ValidatorOf].
func (c *again) Unwrap() Client { return c.Client }

func (c *again) Release(ctx context.Context, req Request) error {
	err := c.Client.Release(ctx, req)
	switch AnswerOf(err) {
	case AnswerUnknown:
		if !errors.Is(err, ErrNotSent) {
			c.unanswered.Put(req.Owner, true)
		}
		return err
	case AnswerFailed: // it gave nothing back, and says nothing of the first
		return err
	}
	if before, _ := c.unanswered.Get(req.Owner); before {
		c.unanswered.Drop(req.Owner)
		return ErrReleased
	}
	return err
}
