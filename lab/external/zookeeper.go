package external

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
	lb "github.com/lockbench/lockbench"
)

// The request by which a session says who it is, as ZooKeeper's protocol has it.
const (
	zkAuthRequest = -4 // its number
	zkAuthType    = 100
)

// zookeeperLogin says who the session is, right behind the client's own first words, by the
// scheme "digest". The client is told nothing of it.
func zookeeperLogin(r *relay, client, server net.Conn) (net.Conn, error) {
	if r.config.User == "" {
		return server, nil
	}
	hello, err := zkFrame(client)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errClientGone, err)
	}
	if _, err := server.Write(append(hello, zkAuth(r.config.User+":"+r.config.Password)...)); err != nil {
		return nil, err
	}
	begun, err := zkFrame(server)
	if err != nil {
		return nil, err
	}
	answer, err := zkFrame(server)
	if err != nil { // of a session that is over it says only that
		_, told := client.Write(begun)
		return nil, errors.Join(err, told)
	}
	const number, result = 4, 16 // where they are, behind the length
	if len(answer) < result+4 || int32(binary.BigEndian.Uint32(answer[number:])) != zkAuthRequest {
		return nil, errors.New("it answered something else than a login")
	}
	if binary.BigEndian.Uint32(answer[result:]) != 0 {
		return nil, fmt.Errorf("%w: it refused the scheme digest", errNotLetIn)
	}
	_, err = client.Write(begun)
	return server, err
}

// zkFrame is a message with its length before it.
func zkFrame(from io.Reader) ([]byte, error) {
	size := make([]byte, 4)
	if _, err := io.ReadFull(from, size); err != nil {
		return nil, err
	}
	const most = 1 << 20
	n := binary.BigEndian.Uint32(size)
	if n > most {
		return nil, fmt.Errorf("a message of %d bytes: is this ZooKeeper?", n)
	}
	frame := append(size, make([]byte, n)...)
	_, err := io.ReadFull(from, frame[4:])
	return frame, err
}

func zkAuth(who string) []byte {
	number, scheme := int32(zkAuthRequest), "digest"
	b := binary.BigEndian.AppendUint32(nil, uint32(number))
	b = binary.BigEndian.AppendUint32(b, zkAuthType)
	b = binary.BigEndian.AppendUint32(b, 0)
	for _, s := range []string{scheme, who} {
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(s))), s...)
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
}

const zkMark = "/" + lb.Prefix + "-run"

type zkVisit struct {
	*zk.Conn
	relay *relay
}

func visitZooKeeper(ctx context.Context, r *relay) (visit, error) {
	dial := func(string, string, time.Duration) (net.Conn, error) { return r.open(ctx) }
	c, events, err := zk.Connect([]string{r.addr}, visitBound, zk.WithLogInfo(false), zk.WithLogger(quiet{}), zk.WithDialer(dial))
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
			return zkVisit{c, r}, nil
		case <-ctx.Done():
			c.Close()
			return nil, ctx.Err()
		}
	}
}

// quiet keeps the library from printing.
type quiet struct{}

func (quiet) Printf(string, ...any) {}

// answers leaves a library behind that does not give up by itself.
func (v zkVisit) answers(ctx context.Context) error {
	back := make(chan error, 1)
	go func() {
		_, _, err := v.Exists(zkMark)
		back <- err
	}()
	select {
	case err := <-back:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// version asks as people do by hand; not all servers answer that.
func (v zkVisit) version(ctx context.Context) (string, error) {
	c, err := v.relay.dial(ctx)
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

func (v zkVisit) kept(context.Context) (paths []string, by string, err error) {
	all, _, err := v.Children("/")
	if err != nil {
		return nil, "", err
	}
	for _, name := range all {
		switch path := "/" + name; {
		case path == zkMark:
			said, _, err := v.Get(zkMark)
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

func (v zkVisit) take(_ context.Context, by string) error {
	_, err := v.Create(zkMark, []byte(by), zk.FlagPersistent, zk.WorldACL(zk.PermAll))
	if errors.Is(err, zk.ErrNodeExists) {
		return errTaken
	}
	return err
}

func (v zkVisit) remove(_ context.Context, paths []string) (err error) {
	for _, path := range paths {
		err = errors.Join(err, v.removeBelow(path))
	}
	return err
}

func (v zkVisit) leave(_ context.Context, by string) error {
	said, stat, err := v.Get(zkMark)
	if err == nil && string(said) == by {
		err = v.Delete(zkMark, stat.Version)
	}
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	return err
}

// removeBelow removes a node and those below it. Others go by themselves meanwhile, with
// their sessions.
func (v zkVisit) removeBelow(path string) error {
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

func (v zkVisit) close() { v.Close() }
