package zookeeper_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/lockbench/lockbench/backends/zookeeper"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
	"github.com/lockbench/lockbench/internal/wire/wiretest"
)

// relayTo stands before the first server of a topology.
func relayTo(t *testing.T, topology string) *wiretest.Relay {
	t.Helper()
	return wiretest.NewRelay(t, zookeeper.Language, labtest.Endpoints(labtest.Servers(t, topology))[0])
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func TestRealZooKeeper(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	r := relayTo(t, "zookeeper")
	c, events, err := zk.Connect([]string{r.Addr}, 3*time.Second, zk.WithLogger(quiet{}))
	must(t, err)
	for e := range events {
		if e.State == zk.StateHasSession {
			break
		}
	}
	name := strings.Trim(r.Notes(), "()")
	r.Forget()
	if id, password, _ := strings.Cut(name, ":"); id != fmt.Sprintf("%x", c.SessionID()) || len(password) != 32 {
		t.Errorf("the session is %q, want %x and 16 bytes", name, c.SessionID())
	}
	_, err = c.Create("/a", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
	must(t, err)
	r.Want(t, "create =create")
	if _, err = c.Create("/a", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll)); !errors.Is(err, zk.ErrNodeExists) {
		t.Error(err)
	}
	r.Want(t, "create =create!")
	_, _, _, err = c.ExistsW("/a")
	must(t, err)
	_, _, err = c.Children("/")
	must(t, err, c.Delete("/a", -1))
	r.Want(t, "exists children delete =exists =children =delete")
	r.Want(t, "ping~ =ping~")
	c.Close()
	r.Want(t, "close =close")
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

func TestMain(m *testing.M) { labtest.Main(m) }
