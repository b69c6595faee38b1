package facts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/lockbench/lockbench/backends/zookeeper"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/lab"
)

const voters = 3

// observed is an ensemble of three voters, and a fourth server that observes them.
func observed() lab.Topology {
	t := topology("zookeeper-3")
	start := t.Kind.Program
	t.Name, t.Doc, t.Servers = "zookeeper-3-observed", "a ZooKeeper ensemble of three, and an observer", voters+1
	t.Kind.Program = func(self lab.Host, all []lab.Host) lab.Program {
		p := start(self, all)
		p = t.Kind.Software.Option(p, fmt.Sprintf("server.%d", voters+1), all[voters].Addr()+":2888:3888:observer")
		// Of two lines for one server the later one counts.
		if self.Name() == all[voters].Name() {
			p = t.Kind.Software.Option(p, "peerType", "observer")
		}
		return p
	}
	return t
}

// observer asks what the roles are, then how old answers are, and ends with voters that die.
func observer(ctx context.Context, at bench) (found []Fact, err error) {
	leader, err := leads(ctx, at.servers[:voters])
	if err != nil {
		return nil, err
	}
	watching := at.servers[voters]
	follower := at.servers[(slices.Index(at.servers, leader)+1)%voters]
	clients := map[*lab.Server]*zk.Conn{}
	modes := map[string]int{}
	for _, s := range at.servers {
		if clients[s], err = dial(ctx, s.Endpoint()); err != nil {
			return nil, err
		}
		defer clients[s].Close()
		mode, err := zookeeper.Mode(ctx, s.Endpoint())
		if err != nil {
			return nil, err
		}
		modes[mode]++
	}
	found = append(found, Fact{"there-are-three-roles", modes["leader"] == 1 && modes["follower"] == voters-1 && modes["observer"] == 1,
		fmt.Sprintf("of four servers %d leads, %d follow and %d observes, by what each says itself", modes["leader"], modes["follower"], modes["observer"])})

	for _, by := range []struct {
		role string
		at   *lab.Server
	}{{"leader", leader}, {"follower", follower}, {"observer", watching}} {
		old, of, err := stale(clients[leader], clients[by.at], "/"+by.role)
		if err != nil {
			return nil, err
		}
		found = append(found, Fact{by.role + "-reads-are-new", old == 0,
			fmt.Sprintf("%d of %d reads at the %s were older than a write that another client had been told was done", old, of, by.role)})
	}
	frozen, err := readsAlone(ctx, leader, clients[watching])
	if err != nil {
		return nil, err
	}
	found = append(found, frozen)
	voteless, err := voteless(ctx, at.servers, watching)
	return append(found, voteless...), err
}

func leads(ctx context.Context, servers []*lab.Server) (*lab.Server, error) {
	for _, s := range servers {
		if mode, err := zookeeper.Mode(ctx, s.Endpoint()); err == nil && mode == "leader" {
			return s, nil
		}
	}
	return nil, errors.New("no server says that it leads")
}

// stale counts the reads that are older than a write which was confirmed before they were sent.
func stale(writer, reader *zk.Conn, path string) (old, of int, err error) {
	if _, err := writer.Create(path, []byte("0"), zk.FlagPersistent, anybody); err != nil {
		return 0, 0, err
	}
	if _, err := reader.Sync("/"); err != nil { // from here on it is only later writes that it may not know
		return 0, 0, err
	}
	// That none is old may be chance where any can be: then more are read.
	const reads, most = 300, 3000
	for n := 1; n <= reads || old == 0 && n <= most; n++ {
		of = n
		if _, err := writer.Set(path, []byte(strconv.Itoa(n)), -1); err != nil {
			return 0, 0, err
		}
		text, _, err := reader.Get(path)
		if err != nil {
			return 0, 0, err
		}
		read, err := strconv.Atoi(string(text))
		if err != nil {
			return 0, 0, err
		}
		if read < n {
			old++
		}
	}
	return old, of, nil
}

// atOnce is how long an answer may take that needs nobody else.
const atOnce = 200 * time.Millisecond

// readsAlone is whether an observer asks the leader before it answers: it can't ask one that is frozen.
func readsAlone(ctx context.Context, leader *lab.Server, reader *zk.Conn) (f Fact, err error) {
	if err := leader.Signal(syscall.SIGSTOP); err != nil {
		return f, err
	}
	begun := time.Now()
	answered := make(chan error, 1)
	go func() {
		_, _, err := reader.Get("/leader")
		answered <- err
	}()
	f = Fact{Name: "observer-asks-the-leader", Holds: true, Saw: fmt.Sprintf("with the leader frozen, an observer did not answer a read within %v", atOnce)}
	select {
	case err = <-answered:
		f.Holds = false
		f.Saw = fmt.Sprintf("with the leader frozen, an observer answered a read in %.1f ms", time.Since(begun).Seconds()*1000)
	case <-time.After(atOnce):
	case <-ctx.Done():
		err = ctx.Err()
	}
	return f, errors.Join(err, leader.Signal(syscall.SIGCONT))
}

// patience is how long an ensemble may take to go on after a voter's death: several elections.
const patience = 8 * time.Second

// voteless kills voters until one is left, and is whether the observer then makes a majority with it.
func voteless(ctx context.Context, servers []*lab.Server, watching *lab.Server) (found []Fact, err error) {
	left := slices.Clone(servers[:voters])
	for len(left) > 1 {
		if err := left[0].Kill(ctx); err != nil {
			return nil, err
		}
		left = left[1:]
		name := map[int]string{1: "one-voter-goes-on", 2: "two-voters-go-on"}[len(left)]
		writes, after := writable(ctx, append(slices.Clone(left), watching))
		saw := fmt.Sprintf("with %s of %d and the observer, a write was accepted after %.1f s", english.Count(len(left), "voter"), voters, after.Seconds())
		if !writes {
			saw = fmt.Sprintf("with %s of %d and the observer, no write was accepted for %.0f s", english.Count(len(left), "voter"), voters, after.Seconds())
		}
		found = append(found, Fact{name, writes, saw})
	}
	return found, ctx.Err()
}

// writable is whether a client that knows these servers can write, and after what time.
func writable(ctx context.Context, servers []*lab.Server) (bool, time.Duration) {
	begun := time.Now()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for ctx.Err() == nil {
		c, err := dial(ctx, lab.Endpoints(servers)...)
		if err != nil {
			break
		}
		_, err = c.Create("/written-", nil, zk.FlagEphemeralSequential, anybody)
		c.Close()
		if err == nil {
			return true, time.Since(begun)
		}
		_ = sleep(ctx, 100*time.Millisecond)
	}
	return false, time.Since(begun)
}
