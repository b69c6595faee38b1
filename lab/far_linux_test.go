package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/testkit"
)

// farVerb has the test's program measure ways in a lab of its own.
const farVerb = "measure-ways"

const farAway = 100 * time.Millisecond

// ways are round trips.
type ways struct{ Near, Far, Between time.Duration }

// TestStretch: a far host is as far from this process as from another far one, and all that is sent arrives in order.
func TestStretch(t *testing.T) {
	t.Parallel()
	testkit.Need(t, "servers that are far away", Local().Can(Distance))
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, farVerb)
	Isolate(cmd)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, &stderr)
	}
	var w ways
	if err := json.Unmarshal(out, &w); err != nil {
		t.Fatal(err)
	}
	if w.Near > farAway/2 {
		t.Errorf("to a near host and back: %v", w.Near)
	}
	for name, d := range map[string]time.Duration{"to a far one": w.Far, "from one far one to another": w.Between} {
		if d < farAway || d > farAway*3/2 {
			t.Errorf("%s and back: %v, want %v", name, d, farAway)
		}
	}
}

func measureWays() (w ways, err error) {
	l, err := openLocal()
	if err != nil {
		return w, err
	}
	defer l.Close()
	host := func(name string, away time.Duration) (*host, error) {
		if err := l.(Stretchable).Stretch(away); err != nil {
			return nil, err
		}
		h, err := l.Host(context.Background(), name, "")
		if err != nil {
			return nil, err
		}
		return h.(*host), nil
	}
	near, errNear := host("near", 0)
	a, errA := host("a", farAway)
	b, errB := host("b", farAway)
	if err := errors.Join(errNear, errA, errB); err != nil {
		return w, err
	}
	here := func(f func() error) error { return f() }
	for _, way := range []struct {
		took     *time.Duration
		from, to func(func() error) error
		addr     string
	}{{&w.Near, here, near.Do, near.Addr()}, {&w.Far, here, a.Do, a.Addr()}, {&w.Between, a.Do, b.Do, b.Addr()}} {
		if *way.took, err = roundTrip(way.from, way.to, way.addr); err != nil {
			return w, err
		}
	}
	return w, nil
}

// roundTrip is the median of some, with a host that sends back what it gets, and gets a megabyte in the end.
func roundTrip(from, to func(func() error) error, addr string) (time.Duration, error) {
	var srv net.Listener
	if err := to(func() (err error) {
		srv, err = net.Listen("tcp", net.JoinHostPort(addr, "0"))
		return err
	}); err != nil {
		return 0, err
	}
	defer srv.Close()
	go func() {
		c, err := srv.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		_, _ = io.Copy(c, c)
	}()
	var c net.Conn
	if err := from(func() (err error) {
		c, err = net.DialTimeout("tcp", srv.Addr().String(), 5*time.Second)
		return err
	}); err != nil {
		return 0, err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		return 0, err
	}
	var took []time.Duration
	for range 7 {
		start := time.Now()
		if _, err := c.Write([]byte{1}); err != nil {
			return 0, err
		}
		if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
			return 0, err
		}
		took = append(took, time.Since(start))
	}
	sent, came := make([]byte, 1<<20), make([]byte, 1<<20)
	for i := range sent {
		sent[i] = byte(rand.Uint32())
	}
	go func() { _, _ = c.Write(sent) }()
	if _, err := io.ReadFull(c, came); err != nil || !bytes.Equal(sent, came) {
		return 0, errors.Join(err, errors.New("a megabyte came back otherwise than it was sent"))
	}
	slices.Sort(took)
	return took[len(took)/2], nil
}

func TestMain(m *testing.M) {
	if len(os.Args) < 2 {
		os.Exit(m.Run())
	}
	var told any
	var err error
	switch os.Args[1] {
	case farVerb:
		told, err = measureWays()
	case timeVerb:
		told, err = askTime()
	case tellVerb:
		if err = tellTime(); err == nil {
			os.Exit(0)
		}
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		_, _ = os.Stderr.WriteString(err.Error())
		os.Exit(1)
	}
	_ = json.NewEncoder(os.Stdout).Encode(told)
	os.Exit(0)
}
