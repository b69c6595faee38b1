package external

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/lab"
)

// lookBound is how long visits to all servers may take.
const lookBound = 15 * time.Second

// relays are those to the servers of a kind.
func (c *config) relays(k lab.Kind) ([]*relay, error) {
	if k.Guest == nil {
		return nil, fmt.Errorf("lockbench can't log in to servers of the kind %q", k.Name)
	}
	var all []*relay
	for _, addr := range c.Servers {
		all = append(all, &relay{config: c, guest: k.Guest, addr: addr})
	}
	return all, nil
}

// each visits the servers side by side, and says of each that fails what is wrong there.
func (c *config) each(ctx context.Context, k lab.Kind, do func(context.Context, int, lab.Visit) error) error {
	all, err := c.relays(k)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, lookBound)
	defer cancel()
	failed := make([]error, len(all))
	ended := make(chan int, len(all)) // not every library gives up in time
	for i, r := range all {
		go func() {
			err := r.visited(ctx, func(ctx context.Context, v lab.Visit) error { return do(ctx, i, v) })
			if err != nil {
				failed[i] = fmt.Errorf("%s at %s: %w", k.Software.Name, r.addr, r.explain(r.why(err)))
			}
			ended <- i
		}()
	}
	open := make([]bool, len(all))
	for range all {
		select {
		case i := <-ended:
			open[i] = true
		case <-ctx.Done():
			if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return ctx.Err()
			}
			var silent []string
			for i, r := range all {
				if !open[i] {
					silent = append(silent, r.addr)
				}
			}
			return fmt.Errorf("%s at %s has not answered within %v: does it hang, or is it something else?", k.Software.Name, strings.Join(silent, ", "), lookBound)
		}
	}
	return errors.Join(failed...)
}

// visited visits the server, for no longer than a visit may take.
func (r *relay) visited(ctx context.Context, do func(context.Context, lab.Visit) error) error {
	ctx, cancel := context.WithTimeout(ctx, lab.VisitBound)
	defer cancel()
	v, err := r.guest.Visit(ctx, r)
	if err != nil {
		return err
	}
	defer func() { _ = v.Close() }()
	return do(ctx, v)
}

// explain says what to do about it.
func (r *relay) explain(err error) error {
	if r.guest.Means != nil {
		err = r.guest.Means(err)
	}
	if hint := r.hint(err); hint != "" {
		return fmt.Errorf("%s: %w", hint, err)
	}
	return err
}

// hint is "" where nobody knows what to do.
func (r *relay) hint(err error) string {
	var noTLS *lab.TLSError
	var number syscall.Errno
	var noName *net.DNSError
	is := func(one error) bool { return errors.Is(err, one) }
	switch said := strings.ToLower(err.Error()); {
	case errors.As(err, &noTLS):
		return "TLS fails: see 'tls' in the file of --addrs, or LOCKBENCH_TLS_CA and the like; leave them out for a server without TLS"
	case !r.TLS() && r.speaksTLS():
		return "it speaks TLS: name 'tls' in the file of --addrs, or set LOCKBENCH_TLS=1 and LOCKBENCH_TLS_CA"
	case is(lab.ErrNotLetIn):
		return "check " + userVariable + " and " + passwordVariable + ", or 'user' and 'password' in the file of --addrs"
	case is(lab.ErrNotLikeThis):
		return "check " + userVariable + ", " + passwordVariable + " and " + databaseVariable + ", and whether it wants TLS or a certificate of ours: see 'tls', with 'cert' and 'key', in the file of --addrs, or LOCKBENCH_TLS_CERT and LOCKBENCH_TLS_KEY"
	case is(lab.ErrNoDatabase):
		return "create the database, or name another: " + databaseVariable + ", or 'database' in the file of --addrs"
	case strings.Contains(said, "tls:"), strings.Contains(said, "certificate"): // of the standard library, passed on as text
		return "TLS fails: see 'tls' in the file of --addrs, or LOCKBENCH_TLS_CERT and LOCKBENCH_TLS_KEY"
	case is(lab.ErrNoRoom):
		return "it takes no writes: make room there"
	case errors.As(err, &number), errors.As(err, &noName):
		return "is the address right, and can this machine reach it?"
	case is(context.DeadlineExceeded), is(os.ErrDeadlineExceeded):
		return "it has not answered in time: does it hang, or is it something else?"
	case is(lab.ErrOther), is(io.EOF), is(net.ErrClosed):
		return "it does not talk as one: is it something else?"
	}
	return ""
}

// speaksTLS tries.
func (r *relay) speaksTLS() bool {
	if r.guest.OwnTLS {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", r.addr)
	if err != nil {
		return false
	}
	defer c.Close()
	return anyTLS(ctx, c)
}

// Ready implements [lab.Borrowed]: the servers are there, let us in, and take what we write.
func (c *config) Ready(ctx context.Context, k lab.Kind) error {
	if err := c.watched(ctx, k); err != nil {
		return err
	}
	left, by, err := c.kept(ctx, k)
	switch {
	case err != nil:
		return err
	case len(left) > 0 || by != "":
		return &lab.OccupiedError{Names: left, By: by}
	}
	if err := c.Take(ctx, k); err != nil {
		return err
	}
	return c.GiveBack(k)
}

// watched asks every Sentinel whom it watches.
func (c *config) watched(ctx context.Context, k lab.Kind) error {
	if len(c.Sentinels) > 0 && (k.Guest == nil || k.Guest.Master == nil) {
		return fmt.Errorf("lockbench can't ask sentinels of the kind %q", k.Name)
	}
	ctx, cancel := context.WithTimeout(ctx, lab.VisitBound)
	defer cancel()
	for _, addr := range c.Sentinels {
		r := &relay{config: c, guest: k.Guest, addr: addr, sentinel: true}
		master, err := k.Guest.Master(ctx, r, c.Master)
		if err == nil && !slices.ContainsFunc(c.Servers, func(s string) bool { return same(s, master) }) {
			err = fmt.Errorf("it says that %s is the master, which is none of the servers that are named", master)
		}
		if err != nil {
			return fmt.Errorf("the sentinel at %s: %w", addr, r.explain(r.why(err)))
		}
		if ip, _, err := address(addr); err == nil && ip == "" {
			return fmt.Errorf("sentinels tell their clients of addresses, and %s is another machine to each of them: name the address that this one has for others", addr)
		}
	}
	return nil
}

// same reports whether both are the same address.
func same(a, b string) bool {
	one, port, err := address(a)
	other, its, e := address(b)
	return a == b || err == nil && e == nil && one == other && port == its
}

// address is the IP address of a server, "" for one that only this machine knows it by.
func address(addr string) (ip string, port int, err error) {
	tcp, err := net.ResolveTCPAddr("tcp4", addr)
	if err != nil {
		return "", 0, err
	}
	if tcp.IP.IsLoopback() {
		return "", tcp.Port, nil
	}
	return tcp.IP.String(), tcp.Port, nil
}

// kept is what all servers keep together; by is what a mark says.
func (c *config) kept(ctx context.Context, k lab.Kind) (all []string, by string, err error) {
	names, marks := make([][]string, len(c.Servers)), make([]string, len(c.Servers))
	err = c.each(ctx, k, func(ctx context.Context, i int, v lab.Visit) (err error) {
		names[i], marks[i], err = v.Kept(ctx)
		return err
	})
	if err != nil {
		return nil, "", err
	}
	all = slices.Concat(names...)
	slices.Sort(all)
	return slices.Compact(all), cmp.Or(marks...), nil
}

// Take implements [lab.Borrowed]. Of servers that share their data one is asked, of those that
// copy from another that one takes it.
func (c *config) Take(ctx context.Context, k lab.Kind) error {
	c.guest.Store(k.Guest)
	taken := make([]bool, len(c.Servers))
	err := c.each(ctx, k, func(ctx context.Context, i int, v lab.Visit) error {
		if i > 0 && !k.Guest.Alone {
			return nil
		}
		err := v.Take(ctx, c.by)
		if errors.Is(err, lab.ErrNotHere) {
			return nil
		}
		taken[i] = err == nil
		return err
	})
	if err == nil && !slices.Contains(taken, true) {
		err = fmt.Errorf("%s at %s: %w", k.Software.Name, strings.Join(c.Servers, ", "), lab.ErrNotHere)
	}
	if err != nil && slices.Contains(taken, true) { // of several, some
		err = errors.Join(err, c.GiveBack(k))
	}
	return err
}

// removeBound is how long the end of a run may take.
const removeBound = 20 * time.Second

// GiveBack implements [lab.Borrowed].
func (c *config) GiveBack(k lab.Kind) error { return c.remove(k, c.by) }

// Clear implements [lab.Borrowed].
func (c *config) Clear(k lab.Kind) error {
	_, by, err := c.kept(context.Background(), k)
	if err != nil {
		return err
	}
	if goesOn(by) {
		return fmt.Errorf("nothing was removed, since the run that uses the servers goes on (%s): wait for it, or end it", by)
	}
	return c.remove(k, by)
}

// remove removes what is under the prefix while the mark says by, and the mark when nothing else
// is there: what is on its way when it looks, it finds when it looks again. A server that does
// not answer may do so soon.
func (c *config) remove(k lab.Kind, by string) error {
	ctx, cancel := context.WithTimeout(context.Background(), removeBound)
	defer cancel()
	for {
		left, err := c.removeOnce(ctx, k, by)
		switch {
		case err == nil && left == 0:
			return nil
		case errors.Is(err, lab.ErrTaken):
			return err
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("remove what begins with %s, %d in all: %w", lb.Prefix, left, ctx.Err()), err)
		}
	}
}

func (c *config) removeOnce(ctx context.Context, k lab.Kind, by string) (left int, err error) {
	var count atomic.Int64
	err = c.each(ctx, k, func(ctx context.Context, _ int, v lab.Visit) error {
		names, said, err := v.Kept(ctx)
		if err == nil && said != "" && said != by {
			err = fmt.Errorf("%w: %s", lab.ErrTaken, said)
		}
		if err == nil && len(names) > 0 {
			count.Add(int64(len(names)))
			err = v.Remove(ctx, names)
		}
		if errors.Is(err, lab.ErrNotHere) { // a replica follows
			return nil
		}
		return err
	})
	if left = int(count.Load()); err != nil || left > 0 {
		return left, err
	}
	return 0, c.each(ctx, k, func(ctx context.Context, _ int, v lab.Visit) error {
		if err := v.Leave(ctx, by); !errors.Is(err, lab.ErrNotHere) {
			return err
		}
		return nil
	})
}
