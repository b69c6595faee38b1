package memcached

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	lb "github.com/lockbench/lockbench"

	"github.com/lockbench/lockbench/lab"
)

// Guest is how lockbench is let in.
func Guest() *lab.Guest {
	return &lab.Guest{Login: login, Visit: newVisit, Means: means, Alone: true}
}

// login sends the name and the password as memcached's text protocol has it (its option -Y): as if they were to be
// stored, by whatever key. A server that wants none stores it: for a time that is over at once.
func login(r lab.Relay, _, server net.Conn) (net.Conn, error) {
	as := r.Account()
	if as.Password == "" {
		return server, nil
	}
	who := as.User + " " + as.Password
	if _, err := fmt.Fprintf(server, "set %s:login 0 -1 %d\r\n%s\r\n", lb.Prefix, len(who), who); err != nil {
		return nil, err
	}
	answer, err := bufio.NewReader(server).ReadString('\n') // one line; nothing else was asked
	switch said := strings.TrimSpace(answer); {
	case err != nil:
		return nil, err
	case said == "STORED":
		return server, nil
	case strings.HasSuffix(strings.Fields(said + " ")[0], "ERROR"):
		return nil, means(Refusal(said))
	default:
		return nil, fmt.Errorf("%w: logging in it says %q", lab.ErrOther, said)
	}
}

// means reads what the server says.
func means(err error) error {
	said := Refusal("")
	if !errors.As(err, &said) {
		return err
	}
	is := func(what string) bool { return strings.Contains(string(said), what) }
	switch {
	case is("authenticat"):
		return fmt.Errorf("%w: %w", lab.ErrNotLetIn, err)
	case is("out of memory"):
		return fmt.Errorf("%w: %w", lab.ErrNoRoom, err)
	}
	return err
}

const mark = lb.Prefix + ":run"

type visit struct{ *Conn }

// newVisit goes through the relay's own login, as the locks do.
func newVisit(ctx context.Context, r lab.Relay) (lab.Visit, error) {
	c, err := r.Open(ctx)
	if err != nil {
		return nil, err
	}
	return visit{newConn(c)}, nil
}

// Answers implements [lab.Visit].
func (v visit) Answers(ctx context.Context) error { return answers(ctx, v.Conn) }

// Version implements [lab.Visit].
func (v visit) Version(ctx context.Context) (string, error) {
	number, err := version(ctx, v.Conn)
	return "memcached " + number, err
}

// Kept implements [lab.Visit].
func (v visit) Kept(ctx context.Context) (names []string, by string, err error) {
	all, err := items(ctx, v.Conn)
	if err != nil {
		return nil, "", err
	}
	for _, one := range all {
		if strings.HasPrefix(one.key, lb.Prefix) && one.key != mark {
			names = append(names, one.key)
		}
	}
	marked, _, err := v.Gets(ctx, mark)
	return names, marked.Value, err
}

// Take implements [lab.Visit].
func (v visit) Take(ctx context.Context, by string) error {
	ours, err := v.Add(ctx, mark, by, 0)
	if err == nil && !ours {
		return lab.ErrTaken
	}
	return err
}

// Remove implements [lab.Visit].
func (v visit) Remove(ctx context.Context, names []string) error {
	for _, key := range names {
		if _, err := v.Delete(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

// Leave implements [lab.Visit].
func (v visit) Leave(ctx context.Context, by string) error {
	marked, ok, err := v.Gets(ctx, mark)
	if err == nil && ok && marked.Value == by {
		_, err = v.Expire(ctx, mark, marked.Cas)
	}
	return err
}
