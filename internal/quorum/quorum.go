// Package quorum measures how many servers an ensemble can lose before its lock
// service stops, and what each side of every split can still do.
package quorum

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"syscall"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/clock"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/lab"
)

// Ensemble is what was measured of one ensemble.
type Ensemble struct {
	Kind string `json:"kind"`
	// Title is what people call the lock service; old studies have none.
	Title   string `json:"title,omitempty"`
	Servers int    `json:"servers"`
	// Survives is how many servers may crash, one after the other, the leader first,
	// before nobody can get a lock any more.
	Survives int `json:"survives"`
	// Published is what the survey says of it; -1 where it says nothing.
	Published int     `json:"published"`
	Splits    []Split `json:"splits"`
}

// Split is a network split into two sides that see only themselves.
type Split struct {
	Few  Side `json:"few"`
	Many Side `json:"many"`
}

// Side is one side of a split.
type Side struct {
	Servers int `json:"servers"`
	// Locks: a client that sees only this side can take and give back a lock.
	Locks bool `json:"locks"`
	// After is how long the first lock took, from the split, in milliseconds.
	AfterMS int64 `json:"after_ms,omitempty"`
}

// Published is the table of the survey "ZooKeeper distributed locks, and why a
// cluster has an odd number of servers": how many crashes an ensemble survives, by
// its size.
var Published = map[int]int{2: 0, 3: 1, 4: 1, 5: 2, 6: 2}

const (
	// sessionTTL is the lease of the probing client.
	sessionTTL = time.Second
	// verdictBound is how long the service may take to recover before a client that
	// still waits counts as one that can't get the lock: several elections.
	verdictBound = 8 * time.Second
)

// Schema is the version of quorum.json.
const Schema = 1

// Study is the whole table: quorum.json.
type Study struct {
	Schema    int        `json:"schema"`
	Ensembles []Ensemble `json:"ensembles"`
	// Missing are the ensembles that were not measured, or not whole, and why.
	Missing []string `json:"missing,omitempty"`
}

// Name is the title, if there is one.
func (e Ensemble) Name() string { return cmp.Or(e.Title, e.Kind) }

// New is an ensemble of which nothing is known yet but what the survey says.
func New(kind, title string, servers int) Ensemble {
	e := Ensemble{Kind: kind, Title: title, Servers: servers, Published: -1, Splits: make([]Split, servers/2)}
	if n, ok := Published[servers]; ok {
		e.Published = n
	}
	return e
}

// Add adds a result: of the crashes, or of the split that cuts off few servers.
func (e *Ensemble) Add(few int, r Result) {
	if r.Split == nil {
		e.Survives = r.Survives
		return
	}
	e.Splits[few-1] = *r.Split
}

// Result is one measurement: of the crashes, or of one split.
type Result struct {
	Survives int    `json:"survives"`
	Split    *Split `json:"split,omitempty"`
}

// String tells it in a few words.
func (r Result) String() string {
	if r.Split == nil {
		return "survive " + english.Count(r.Survives, "crash")
	}
	return fmt.Sprintf("split, %s, %s", r.Split.Few, r.Split.Many)
}

// String tells it in a few words.
func (s Side) String() string {
	if s.Locks {
		return fmt.Sprintf("%d can lock", s.Servers)
	}
	return fmt.Sprintf("%d can't", s.Servers)
}

// Bench measures one ensemble, once, in a lab of its own: after a long split TCP
// itself takes its time to find the peers again, and that is not the question.
type Bench struct {
	Lab     lab.Lab
	Impl    lb.Impl
	Kind    lab.Kind
	Servers int
	Log     func(name string) (*os.File, error)

	all []*lab.Server
}

// Measure does one measurement: the split that cuts off few servers, or, for 0, the
// crashes.
func (s *Bench) Measure(ctx context.Context, few int) (Result, error) {
	if few == 0 {
		n, err := s.Crash(ctx)
		return Result{Survives: n}, err
	}
	split, err := s.Split(ctx, few)
	return Result{Split: &split}, err
}

// Split cuts the first few servers from the others and tries both sides.
func (s *Bench) Split(ctx context.Context, few int) (Split, error) {
	service, err := s.start(ctx)
	if err != nil {
		return Split{}, err
	}
	a, b := service.Servers[:few], service.Servers[few:]
	for _, sides := range [][2][]*lab.Server{{a, b}, {b, a}} {
		if _, err := s.Lab.Network().Drop(nodes(sides[0]), nodes(sides[1]), 1); err != nil {
			return Split{}, err
		}
	}
	// Until the old leader knows that it has lost its peers it may answer for a
	// moment; what counts is what a side can do for long.
	if err := sleep(ctx, 2*sessionTTL); err != nil {
		return Split{}, err
	}
	many := make(chan Side)
	go func() { many <- s.try(ctx, b) }()
	return Split{Few: s.try(ctx, a), Many: <-many}, ctx.Err()
}

// Crash kills one server after the other, the leader first, until nobody can get
// a lock, and returns how many could be missed.
func (s *Bench) Crash(ctx context.Context) (survived int, err error) {
	service, err := s.start(ctx)
	if err != nil {
		return 0, err
	}
	left := slices.Clone(service.Servers)
	for len(left) > 1 {
		victim := left[0]
		if leader, err := service.Leader(ctx, ""); err == nil {
			victim = leader
		}
		if err := victim.Signal(syscall.SIGKILL); err != nil {
			return survived, err
		}
		left = slices.DeleteFunc(left, func(x *lab.Server) bool { return x == victim })
		if !s.try(ctx, left).Locks {
			return survived, ctx.Err()
		}
		survived++
	}
	return survived, ctx.Err()
}

// start brings the ensemble up and wants it to work before anything is done to it.
func (s *Bench) start(ctx context.Context) (*lab.Service, error) {
	service, err := lab.StartService(ctx, s.Lab, lab.Topology{Kind: s.Kind, Servers: s.Servers}, lab.Options{Log: s.Log})
	if err != nil {
		return nil, err
	}
	s.all = service.Servers
	if !s.try(ctx, service.Servers).Locks {
		return nil, fmt.Errorf("measure a quorum: %d %s servers do not work together", s.Servers, s.Kind.Name)
	}
	return service, nil
}

// try takes and gives back a lock as a client that sees only these servers.
func (s *Bench) try(ctx context.Context, servers []*lab.Server) Side {
	side, start := Side{Servers: len(servers)}, clock.Now()
	ctx, cancel := context.WithTimeout(ctx, verdictBound)
	defer cancel()
	for ctx.Err() == nil {
		if s.lock(ctx, servers) == nil {
			side.Locks, side.AfterMS = true, clock.Now().Sub(start).Milliseconds()
			return side
		}
		_ = sleep(ctx, 50*time.Millisecond)
	}
	return side
}

func (s *Bench) lock(ctx context.Context, servers []*lab.Server) error {
	env := &lb.Env{
		Client: "quorum", Servers: s.endpoints(servers), TTL: sessionTTL, Clock: lb.HostClock{},
		Rand: rand.New(rand.NewPCG(1, uint64(clock.Now()))),
	}
	ctx, cancel := context.WithTimeout(ctx, 3*sessionTTL)
	defer cancel()
	c, err := s.Impl.Open(ctx, env)
	if err != nil {
		return err
	}
	defer c.Close()
	req := lb.Request{Lock: "quorum", Owner: fmt.Sprint("quorum.", clock.Now())}
	if _, err := c.Acquire(ctx, req); err != nil {
		return err
	}
	return c.Release(ctx, req)
}

// endpoints are those that a client is given that sees only these servers. Independent ones don't
// know of each other, so their client has to know them all: those that it doesn't see refuse it.
func (s *Bench) endpoints(seen []*lab.Server) []string {
	if s.Kind.Quorum {
		return lab.Endpoints(seen)
	}
	const nobodyListens = "1"
	var all []string
	for _, server := range s.all {
		endpoint := server.Endpoint()
		if host, _, err := net.SplitHostPort(endpoint); err == nil && !slices.Contains(seen, server) {
			endpoint = net.JoinHostPort(host, nobodyListens)
		}
		all = append(all, endpoint)
	}
	return all
}

func nodes(servers []*lab.Server) (all []lab.Node) {
	for _, s := range servers {
		all = append(all, s)
	}
	return all
}

func sleep(ctx context.Context, d time.Duration) error { return lb.HostClock{}.Sleep(ctx, d) }
