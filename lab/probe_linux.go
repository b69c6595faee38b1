package lab

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

// Probe is what the hidden verb runs inside of [Isolate] for [canIsolate]: two
// hosts, a connection, and a cut that stops it and counts what it stopped.
func Probe(ctx context.Context) error {
	l, err := openLocal()
	if err != nil {
		return err
	}
	defer l.Close()
	a, errA := l.Host(ctx, "a", "")
	b, errB := l.Host(ctx, "b", "")
	if err := errors.Join(errA, errB); err != nil {
		return err
	}
	var srv net.Listener
	if err := b.(*host).Do(func() (err error) {
		srv, err = net.Listen("tcp", net.JoinHostPort(b.Addr(), "9"))
		return err
	}); err != nil {
		return fmt.Errorf("listen on a host: %w", err)
	}
	defer srv.Close()
	if err := dialFrom(a, srv.Addr().String(), time.Second); err != nil {
		return fmt.Errorf("one host can't reach another: %w", err)
	}
	rule, err := l.Network().Drop([]Node{a}, []Node{b}, 1)
	if err != nil {
		return err
	}
	if dialFrom(a, srv.Addr().String(), 200*time.Millisecond) == nil {
		return errors.New("drop packets between two hosts: they still arrive")
	}
	if n, err := rule.Packets(); err != nil || n == 0 {
		return fmt.Errorf("drop packets between two hosts: the rule counted %d: %w", n, err)
	}
	return rule.Remove()
}

func dialFrom(h Host, to string, bound time.Duration) error {
	return h.(*host).Do(func() error {
		c, err := net.DialTimeout("tcp", to, bound)
		if err != nil {
			return err
		}
		return c.Close()
	})
}
