package run

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
	"github.com/lockbench/lockbench/lab"
)

// onStage calls f with a stage of one server on paper, s1, and what was recorded.
func onStage(t *testing.T, l *labtest.Paper, f func(t *testing.T, s *stage, said func() string)) {
	t.Helper()
	logs := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var notes []string
		kind := lab.Kind{Name: "s", Program: func(lab.Host, []lab.Host) lab.Program { return lab.Program{Port: 1} }}
		service, err := lab.StartService(t.Context(), l, lab.Topology{Kind: kind, Servers: 1},
			lab.Options{Log: func(name string) (*os.File, error) { return os.Create(filepath.Join(logs, name)) }})
		if err != nil {
			t.Fatal(err)
		}
		s := &stage{tell: func(string) {}, plan: history.Plan{TTL: time.Second}, service: service,
			record: func(e history.Event) {
				mu.Lock()
				defer mu.Unlock()
				notes = append(notes, strings.Join([]string{e.Name, e.Phase, e.Note}, " "))
			}}
		f(t, s, func() string {
			mu.Lock()
			defer mu.Unlock()
			return strings.Join(notes, "; ")
		})
	})
}

// TestKillHalfWay: a server that was killed, and whose end nobody lived to see, comes
// back all the same.
func TestKillHalfWay(t *testing.T) {
	paper := &labtest.Paper{Dies: 2 * time.Second}
	onStage(t, paper, func(t *testing.T, s *stage, said func() string) {
		struck, err := s.begin(faults.Fault{Name: "impatient", Inject: func(ctx context.Context, on faults.Strike) (faults.Proof, error) {
			ctx, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			return nil, on.Kill(ctx, on.Servers()[0])
		}}, 0).do(t.Context())
		if !struck || err == nil || !strings.Contains(err.Error(), "the fault impatient failed") || strings.Contains(err.Error(), "heal") {
			t.Errorf("struck %v: %v", struck, err)
		}
		if paper.Starts("s1") != 2 || !strings.Contains(said(), "restart end") {
			t.Errorf("%d starts; recorded: %s", paper.Starts("s1"), said())
		}
	})
}

// TestFaultThatIgnoresItsContext ends its run, within a bound, with its name; what it
// had done is undone.
func TestFaultThatIgnoresItsContext(t *testing.T) {
	forever := make(chan struct{})
	for what, f := range map[string]faults.Fault{
		"its injection": {Name: "deaf", Inject: func(ctx context.Context, on faults.Strike) (faults.Proof, error) {
			err := on.Kill(ctx, on.Servers()[0])
			<-forever
			return nil, err
		}},
		"its proof": {Name: "deaf", Inject: func(ctx context.Context, on faults.Strike) (faults.Proof, error) {
			return func() history.Proof { <-forever; return history.Proof{Proven: true} }, on.Kill(ctx, on.Servers()[0])
		}},
	} {
		paper := &labtest.Paper{}
		onStage(t, paper, func(t *testing.T, s *stage, said func() string) {
			forever = make(chan struct{})
			start := time.Now()
			_, err := s.begin(f, 0).do(t.Context())
			if err == nil || !strings.Contains(err.Error(), "the fault deaf failed: "+what+" goes on") {
				t.Errorf("%s: %v", what, err)
			}
			if took := time.Since(start); took > injectBound+healBound+endBound+2*s.plan.TTL {
				t.Errorf("%s: it took %v", what, took)
			}
			if paper.Starts("s1") != 2 || !strings.Contains(said(), "deaf healed it went half way: "+what) {
				t.Errorf("%s: %d starts; recorded: %s", what, paper.Starts("s1"), said())
			}
			close(forever)
		})
	}
}

// TestFaultThatIsLate fails with its name, too.
func TestFaultThatIsLate(t *testing.T) {
	onStage(t, &labtest.Paper{}, func(t *testing.T, s *stage, said func() string) {
		_, err := s.begin(faults.Fault{Name: "late", Inject: func(ctx context.Context, _ faults.Strike) (faults.Proof, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}, 0).do(t.Context())
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "the fault late failed") {
			t.Error(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.begin(faults.Fault{Name: "late", Inject: func(ctx context.Context, _ faults.Strike) (faults.Proof, error) {
			return nil, ctx.Err()
		}}, 0).do(ctx); err != context.Canceled {
			t.Errorf("interrupted: %v", err)
		}
	})
}
