package conform

import (
	"context"
	"errors"
)

// session: who claims that its locks end with a session tells of it by the time that it
// holds one, and nobody else tells of any.
func session(ctx context.Context, b *bench) error {
	ps, err := b.clients(ctx, 1)
	if err != nil {
		return err
	}
	h, err := ps[0].soon(ctx, b.lock)
	if err != nil {
		return err
	}
	claims, tells := b.impl.Info().Traits.Session, ps[0].watch.sessions() > 0
	switch {
	case claims && !tells:
		err = errors.New("it told env.Session of no session, although its Info says that its locks end with one")
	case !claims && tells:
		err = errors.New("it told env.Session of a session, which its Info does not claim")
	}
	return errors.Join(err, h.release(ctx))
}
