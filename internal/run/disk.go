package run

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"os"
	"time"

	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/internal/clock"
	"github.com/lockbench/lockbench/internal/english"
)

// FillDisk implements [faults.DiskActs].
func (s *strike) FillDisk(ctx context.Context, n faults.Node) (*faults.Filled, error) {
	server, err := s.server(n)
	if err != nil {
		return nil, err
	}
	complaints := func() int { return complaintsIn(s.dir.LogFile(n.Name())) }
	before := complaints()
	end := s.act("fill disk", n.Name(), 0)
	empty, err := server.FillDisk()
	if err != nil {
		return nil, err
	}
	f := &faults.Filled{}
	s.acts.undone(func(ctx context.Context) error {
		f.Complaints = complaints() - before
		err := empty()
		end(english.Count(f.Complaints, "complaint") + " in its log")
		const dying = 500 * time.Millisecond // of a write that failed while there was no room
		err = errors.Join(err, sleep(ctx, dying))
		f.Ended = server.Ended()
		if f.Ended { // its supervisor has not started it while there was no room
			_, back := s.restart(ctx, server, false)
			err = errors.Join(err, back)
		}
		return err
	})
	return f, ctx.Err()
}

// complaintsIn counts the lines of a server's log that tell of a full disk.
func complaintsIn(log string) (n int) {
	f, err := os.Open(log)
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := bytes.ToLower(lines.Bytes())
		for _, complaint := range []string{"no space left on device", "disk is full", "disk full", "short write while writing"} {
			if bytes.Contains(line, []byte(complaint)) {
				n++
				break
			}
		}
	}
	return n
}

// StallDisk implements [faults.DiskActs].
func (s *strike) StallDisk(ctx context.Context, n faults.Node) (*faults.Stalled, error) {
	server, err := s.server(n)
	if err != nil {
		return nil, err
	}
	start, end := clock.Now(), s.act("stall disk", n.Name(), 0)
	goOn, err := server.StallDisk()
	if err != nil {
		return nil, err
	}
	var calls int
	var took time.Duration
	s.acts.undone(func(context.Context) error {
		calls, took = goOn(), clock.Now().Sub(start)
		end(english.Count(calls, "write") + " waited")
		return nil
	})
	return &faults.Stalled{Calls: func() int { return calls }, For: func() time.Duration { return took }}, ctx.Err()
}
