package zookeeper

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
	lb "github.com/lockbench/lockbench"

	"github.com/lockbench/lockbench/lab"
)

const mark = "/" + lb.Prefix + "-run"

type visit struct {
	*zk.Conn
	relay lab.Relay
}

func newVisit(ctx context.Context, r lab.Relay) (lab.Visit, error) {
	dial := func(string, string, time.Duration) (net.Conn, error) { return r.Open(ctx) }
	c, events, err := zk.Connect([]string{r.Addr()}, lab.VisitBound, zk.WithLogInfo(false), zk.WithLogger(quiet{}), zk.WithDialer(dial))
	if err != nil {
		return nil, err
	}
	for {
		select {
		case e := <-events:
			if e.State != zk.StateHasSession {
				continue
			}
			go func() {
				for range events { // nobody wants the others
				}
			}()
			return visit{c, r}, nil
		case <-ctx.Done():
			c.Close()
			return nil, ctx.Err()
		}
	}
}

// quiet keeps the library from printing.
type quiet struct{}

func (quiet) Printf(string, ...any) {}

// Answers leaves a library behind that does not give up by itself.
func (v visit) Answers(ctx context.Context) error {
	back := make(chan error, 1)
	go func() {
		_, _, err := v.Exists(mark)
		back <- err
	}()
	select {
	case err := <-back:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Version asks as people do by hand; not all servers answer that.
func (v visit) Version(ctx context.Context) (string, error) {
	c, err := v.relay.Dial(ctx)
	if err != nil {
		return "", err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Second))
	if _, err := io.WriteString(c, "srvr"); err != nil {
		return "", err
	}
	text, err := io.ReadAll(c)
	first, _, _ := strings.Cut(string(text), "\n")
	number, ok := strings.CutPrefix(first, "Zookeeper version: ")
	if !ok {
		return "", errors.Join(errors.New("it does not tell its version"), err)
	}
	number, _, _ = strings.Cut(number, ",")
	return "ZooKeeper " + number, nil
}

func (v visit) Kept(context.Context) (paths []string, by string, err error) {
	all, _, err := v.Children("/")
	if err != nil {
		return nil, "", err
	}
	for _, name := range all {
		switch path := "/" + name; {
		case path == mark:
			said, _, err := v.Get(mark)
			if err != nil && !errors.Is(err, zk.ErrNoNode) {
				return nil, "", err
			}
			by = string(said)
		case strings.HasPrefix(name, lb.Prefix):
			paths = append(paths, path)
		}
	}
	return paths, by, nil
}

func (v visit) Take(_ context.Context, by string) error {
	_, err := v.Create(mark, []byte(by), zk.FlagPersistent, zk.WorldACL(zk.PermAll))
	if errors.Is(err, zk.ErrNodeExists) {
		return lab.ErrTaken
	}
	return err
}

func (v visit) Remove(_ context.Context, paths []string) (err error) {
	for _, path := range paths {
		err = errors.Join(err, v.removeBelow(path))
	}
	return err
}

func (v visit) Leave(_ context.Context, by string) error {
	said, stat, err := v.Get(mark)
	if err == nil && string(said) == by {
		err = v.Delete(mark, stat.Version)
	}
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	return err
}

// removeBelow removes a node and those below it. Others go by themselves meanwhile, with
// their sessions.
func (v visit) removeBelow(path string) error {
	names, _, err := v.Children(path)
	for _, name := range names {
		err = errors.Join(err, v.removeBelow(path+"/"+name))
	}
	if err == nil {
		err = v.Delete(path, -1)
	}
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	return err
}

// Close implements [lab.Visit].
func (v visit) Close() error {
	v.Conn.Close()
	return nil
}
