package run

import (
	"context"
	"log/slog"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/clock"
	"github.com/lockbench/lockbench/internal/worker"
	"github.com/lockbench/lockbench/lab"
)

// counts looks what there is of the lock: what its servers keep, and the connections, goroutines,
// threads and open files of the clients, as the worker counts them. Where servers are somebody else's, what they
// keep may be anybody's.
func (s *stage) counts(ctx context.Context, what string) (all []history.Event, err error) {
	add := func(name, target string, n int) {
		all = append(all, history.Event{At: clock.Now(), Kind: history.KindCount, Name: name, Target: target, Count: n})
	}
	servers, err := s.places(append(s.Servers(), s.Sentinels()...))
	if err != nil {
		return nil, err
	}
	for _, w := range s.workers.alive() {
		r, err := w.ask(ctx, worker.Instruction{Do: what})
		if err != nil {
			return nil, err
		}
		for name, n := range map[string]int{"goroutines": r.Goroutines, "threads": r.Threads, "open files": r.Files} {
			if n > 0 {
				add(name, w.Name(), n)
			}
		}
		if net := s.lab.Network(); net != nil {
			open, err := net.Connections(servers, []lab.Node{w})
			if err != nil {
				return nil, err
			}
			add("connections", w.Name(), len(open))
		}
	}
	if s.setting.Lab.Borrowed != nil {
		return all, nil
	}
	for _, server := range s.service.Servers {
		kept, err := server.Keeps(ctx)
		if err != nil {
			return nil, err
		}
		for what, n := range kept {
			add(what, server.Name(), n)
		}
	}
	return all, nil
}

// countFirst counts while the clients work: they have all that they need, and have not left much yet.
// Only where nothing is to go wrong is it the lock's own what is left.
func (s *stage) countFirst(ctx context.Context) {
	if s.plan.Fault != "none" {
		return
	}
	first, err := s.counts(ctx, worker.DoCount)
	if err != nil {
		slog.Warn("what there is of the lock was not counted", "error", err)
		return
	}
	s.first = first
	s.recordAll(first)
}

// countLast counts when the clients have given all back and keep their sessions. What goes by itself
// when a lease is over is waited for.
func (s *stage) countLast(ctx context.Context) {
	if s.first == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, stopBound+3*s.plan.TTL)
	defer cancel()
	const look = 100 * time.Millisecond
	patient := clock.Now().Add(2*s.plan.TTL + 2*time.Second)
	for {
		last, err := s.counts(ctx, worker.DoRest)
		if err == nil && clock.Now() < patient && grown(s.first, last) > checker.MayKeep(s.plan.Clients) {
			if err = sleep(ctx, look); err == nil {
				continue
			}
		}
		if err != nil {
			slog.Warn("what is left of the lock was not counted", "error", err)
			return
		}
		s.recordAll(last)
		return
	}
}

func (s *stage) recordAll(events []history.Event) {
	for _, e := range events {
		s.record(e)
	}
}

// grown is how much more there is of what has grown most.
func grown(first, last []history.Event) (most int) {
	for _, was := range first {
		for _, is := range last {
			if is.Name == was.Name && is.Target == was.Target {
				most = max(most, is.Count-was.Count)
			}
		}
	}
	return most
}
