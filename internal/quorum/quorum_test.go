package quorum

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
	"github.com/lockbench/lockbench/lab"
)

// majority is a lock of servers on paper: it is granted while one of those that the
// client asks sees so many of all, itself included.
type majority struct {
	paper *labtest.Paper
	needs int
}

func (majority) Info() lb.Info { return lb.Info{Name: "majority"} }

func (m majority) Open(_ context.Context, env *lb.Env) (lb.Client, error) {
	return votes{m, env.Servers}, nil
}

type votes struct {
	majority
	servers []string
}

func (v votes) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	for _, endpoint := range v.servers {
		host, _, err := net.SplitHostPort(endpoint)
		if err != nil {
			return nil, err
		}
		if len(v.paper.Sees(host)) >= v.needs {
			return nil, nil
		}
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

func (votes) Release(context.Context, lb.Request) error { return nil }
func (votes) Close() error                              { return nil }

const port = 2

// alone is a lock of servers on paper that don't know of each other: it is granted while
// its client reaches more than half of all.
type alone struct{ majority }

func (a alone) Open(_ context.Context, env *lb.Env) (lb.Client, error) {
	reached := 0
	for _, endpoint := range env.Servers {
		host, at, err := net.SplitHostPort(endpoint)
		if err != nil {
			return nil, err
		}
		if at == strconv.Itoa(port) && len(a.paper.Sees(host)) > 0 {
			reached++
		}
	}
	if reached <= len(env.Servers)/2 {
		return nil, errors.New("no majority")
	}
	return granted{}, nil
}

type granted struct{ votes }

func (granted) Acquire(context.Context, lb.Request) (*lb.Lease, error) { return nil, nil }

// bench measures servers on paper, of which the last that runs leads.
func bench(t *testing.T, servers, needs int) *Bench {
	paper, logs := &labtest.Paper{}, t.TempDir()
	leads := func(_ context.Context, endpoint string) (bool, error) {
		host, _, err := net.SplitHostPort(endpoint)
		all := paper.Sees(host)
		return len(all) > 0 && (len(all) == 1 || all[len(all)-1] < host), err
	}
	return &Bench{Lab: paper, Impl: majority{paper, needs}, Servers: servers,
		Kind: lab.Kind{Name: "s", Quorum: true, Leads: leads, Program: func(lab.Host, []lab.Host) lab.Program { return lab.Program{Port: port} }},
		Log:  func(name string) (*os.File, error) { return os.Create(filepath.Join(logs, name)) }}
}

// TestMeasure finds of each ensemble what is known of majorities: it survives the crash
// of fewer than half, and a side of a split works if it has more than half.
func TestMeasure(t *testing.T) {
	t.Run("that agree", func(t *testing.T) { measures(t, func(*Bench) {}) })
	t.Run("independent", func(t *testing.T) {
		measures(t, func(b *Bench) { b.Kind.Quorum, b.Impl = false, alone{b.Impl.(majority)} })
	})
}

func measures(t *testing.T, of func(*Bench)) {
	for servers, survives := range Published {
		b := bench(t, servers, servers/2+1)
		e := New("paper", "", servers)
		synctest.Test(t, func(t *testing.T) {
			for few := range servers/2 + 1 {
				*b = *bench(t, servers, servers/2+1)
				of(b)
				r, err := b.Measure(t.Context(), few)
				if err != nil {
					t.Fatalf("%d servers, split %d: %v", servers, few, err)
				}
				e.Add(few, r)
			}
		})
		if e.Survives != survives || e.Published != survives || len(e.Splits) != servers/2 {
			t.Errorf("%d servers: %+v", servers, e)
		}
		for i, s := range e.Splits {
			few := i + 1
			s.Few.AfterMS, s.Many.AfterMS = 0, 0 // measured on the real clock
			want := Split{Few: Side{Servers: few}, Many: Side{Servers: servers - few, Locks: servers-few > servers/2}}
			if s != want {
				t.Errorf("%d servers, %d cut off: %s", servers, few, Result{Split: &s})
			}
		}
	}
}

// TestLeaderCrashesFirst: the others could go on for longer.
func TestLeaderCrashesFirst(t *testing.T) {
	b := bench(t, 3, 2)
	synctest.Test(t, func(t *testing.T) {
		if n, err := b.Crash(t.Context()); n != 1 || err != nil {
			t.Errorf("survived %d, %v", n, err)
		}
		if left := b.Impl.(majority).paper.Sees("s1"); len(left) != 1 {
			t.Errorf("there are left %v, want s1, which never led", left)
		}
	})
}

// TestWorksAtFirst: of an ensemble that never worked nothing is measured.
func TestWorksAtFirst(t *testing.T) {
	b := bench(t, 3, 4)
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		if _, err := b.Measure(t.Context(), 0); err == nil || !strings.Contains(err.Error(), "do not work together") {
			t.Error(err)
		}
		if took := time.Since(start); took < verdictBound || took > 2*verdictBound {
			t.Errorf("it was given up after %v", took)
		}
	})
}

// TestInterrupted is no result: nobody could lock because nobody asked any more.
func TestInterrupted(t *testing.T) {
	b := bench(t, 5, 3)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*sessionTTL) // while the sides are tried
		defer cancel()
		if r, err := b.Measure(ctx, 2); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("split: %s, %v", r, err)
		}
		b := bench(t, 5, 3)
		ctx, cancel = context.WithTimeout(t.Context(), time.Second) // in the third crash
		defer cancel()
		if r, err := b.Measure(ctx, 0); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("crashes: %s, %v", r, err)
		}
	})
}

func TestNew(t *testing.T) {
	if e := New("etcd", "", 7); e.Published != -1 || len(e.Splits) != 3 {
		t.Errorf("of seven servers the survey says nothing: %+v", e)
	}
}
