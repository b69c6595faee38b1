package explore_test

import (
	"context"
	"errors"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/explore"
)

// mergedSmalls are locks whose mistake only the past shows, of orders that come to moments which look alike.
func mergedSmalls() []smallCase {
	looks := func(name string) func(*session, context.Context, lb.Request) error {
		return func(s *session, ctx context.Context, req lb.Request) error {
			_, err := s.number(ctx, req, name, "EXISTS", req.Lock)
			return err
		}
	}
	return []smallCase{
		// Whoever comes is let in, and nobody is told: the server is as it was, and who ends last is right. So one who comes
		// before the other has ended leaves behind what one does who comes after.
		{small{name: "small-tells-nobody", requests: []string{"ask", "end"}, reads: []string{"ask"},
			acquire: func(s *session, ctx context.Context, req lb.Request) (*lb.Lease, error) {
				if err := looks("ask")(s, ctx, req); err != nil {
					return nil, err
				}
				return s.env.Grant(req, 0, 0), nil
			},
			release: func(s *session, ctx context.Context, req lb.Request) error {
				if n, err := s.number(ctx, req, "end", "INCR", req.Lock+":more"); n != 1 || err != nil {
					return err
				}
				return lb.ErrReleased
			}}, true, true, within(nil)},
		{small{name: "small-lets-in", requests: []string{"ask", "end"}, reads: []string{"ask", "end"}, traits: leased, // for a time, after which the next is right
			acquire: func(s *session, ctx context.Context, req lb.Request) (*lb.Lease, error) {
				call := s.env.Clock.Mono()
				return s.taken(req, call, 1, looks("ask")(s, ctx, req))
			}, release: looks("end")}, true, false, within(expiry)},
		// Its renewal gives the lock back, and its release looks at what is never there. A client that comes between the two
		// shares the lock, and all are answered as if it had come after both: only its place tells that it did not.
		{small{name: "small-renews-away", requests: []string{"set", "renew", "end"}, reads: []string{"end"}, traits: lb.Traits{Leased: true, Renewing: true},
			acquire: func(s *session, ctx context.Context, req lb.Request) (*lb.Lease, error) {
				lease, err := s.set(ctx, req)
				if err != nil {
					return nil, err
				}
				return s.renewed(lease, func(ctx context.Context) (int64, error) {
					return s.eval(ctx, req, "renew", compareAndDelete, req.Owner)
				}), nil
			},
			release: func(s *session, ctx context.Context, req lb.Request) error {
				_, err := s.number(ctx, req, "end", "EXISTS", req.Lock+":more")
				return err
			}}, true, false, within(func(b *explore.Bounds) { b.Renewals = 1 })},
		{small{name: "small-refused-once", requests: []string{"set", "mark", "steal", "delete"}, traits: leased, // takes what it was refused before
			acquire: func(s *session, ctx context.Context, req lb.Request) (*lb.Lease, error) {
				call := s.env.Clock.Mono()
				_, err := s.do(ctx, req, "set", "SET", req.Lock, req.Owner, "NX", "PX", s.env.TTL.Milliseconds())
				switch {
				case errors.Is(err, errRefused) && s.keeps["refused"] > 0:
					_, err = s.do(ctx, req, "steal", "SET", req.Lock, req.Owner, "PX", s.env.TTL.Milliseconds())
				case errors.Is(err, errRefused):
					s.keeps["refused"]++
				case err == nil:
					_, err = s.do(ctx, req, "mark", "INCR", req.Lock+":more")
				}
				return s.taken(req, call, 1, err)
			}, release: safeDelete}, true, true, within(polls)},
		{small{name: "small-counts-connections", requests: []string{"set", "count", "delete"}, reads: []string{"count"}, // keeps the key where nobody else is there
			acquire: func(s *session, ctx context.Context, req lb.Request) (*lb.Lease, error) {
				_, err := s.do(ctx, req, "set", "SET", req.Lock, req.Owner, "NX")
				if _, err := s.taken(req, s.env.Clock.Mono(), 1, err); err != nil {
					return nil, err
				}
				return s.env.Grant(req, 0, 0), nil
			},
			release: func(s *session, ctx context.Context, req lb.Request) error {
				answer, err := s.do(ctx, req, "count", "INFO", "clients")
				if text, _ := answer.(string); err != nil || !strings.Contains(text, "connected_clients:3") { // with the one that counts changes
					return err
				}
				return safeDelete(s, ctx, req)
			}}, true, false, within(crash)},
	}
}
