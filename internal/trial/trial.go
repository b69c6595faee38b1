// Package trial puts a lock that is a program to the conformance suite, in a lab: what the
// tests of this module do with its own locks.
package trial

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/conform"
	"github.com/lockbench/lockbench/impls/foreign"
	"github.com/lockbench/lockbench/internal/catalog"
	"github.com/lockbench/lockbench/internal/run"
	"github.com/lockbench/lockbench/lab"
)

// Plan says what is tried, and where.
type Plan struct {
	Algorithm string        `json:"algorithm"`
	Exec      *history.Exec `json:"exec,omitempty"` // nil for a lock of the list
	Topology  string        `json:"topology"`
	Lab       string        `json:"lab"`
	// Jobs is how many checks are done at a time.
	Jobs int `json:"jobs"`
}

// Result is what came of one check.
type Result struct {
	Check string `json:"check"`
	OK    bool   `json:"ok"`
	// Error is how the claim was found to be false, Deviates the declared reason for that,
	// and Note what was measured.
	Error    string `json:"error,omitempty"`
	Deviates string `json:"deviates,omitempty"`
	Note     string `json:"note,omitempty"`
}

const (
	planFile    = "plan.json"
	resultsFile = "results.jsonl"
)

// Execute does the trial in a lab, in a directory of its own that it removes, and tells of each
// check as it ends.
func Execute(ctx context.Context, c catalog.Catalog, p Plan, tell func(Result)) error {
	driver, err := c.Lab(p.Lab, "")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "lockbench-conform-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	logTo, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return err
	}
	defer logTo.Close()
	results, err := os.Create(filepath.Join(dir, resultsFile))
	if err != nil {
		return err
	}
	defer results.Close()
	if err := os.WriteFile(filepath.Join(dir, planFile), text, 0o644); err != nil {
		return err
	}
	stop := follow(results, tell)
	err = run.InLab(ctx, driver, logTo, "conforms", dir)
	return errors.Join(err, stop())
}

// follow tells of each line that is added to a file, until it is told to stop.
func follow(f *os.File, tell func(Result)) (stop func() error) {
	over, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		in := bufio.NewReader(f)
		var line []byte
		for last := false; ; {
			part, err := in.ReadBytes('\n')
			if line = append(line, part...); err == nil {
				var r Result
				if err := json.Unmarshal(line, &r); err != nil {
					ended <- err
					return
				}
				tell(r)
				line = nil
				continue
			}
			if last {
				ended <- nil
				return
			}
			select {
			case <-over:
				last = true
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	return func() error { close(over); return <-ended }
}

// Perform is the trial that dir's plan describes, inside the lab.
func Perform(ctx context.Context, dir string, c catalog.Catalog) error {
	var p Plan
	text, err := os.ReadFile(filepath.Join(dir, planFile))
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err == nil {
		c, err = c.With(p.Exec)
	}
	if err != nil {
		return err
	}
	impl, err := c.Lock(p.Algorithm)
	if err != nil {
		return err
	}
	of, ok := impl.(interface{ Conformance() foreign.Description })
	if !ok {
		return fmt.Errorf("%s is no program: the tests of its package hold it to what it claims", p.Algorithm)
	}
	driver, err := c.Lab(p.Lab, "")
	if err != nil {
		return err
	}
	topology, err := c.Topology(p.Topology)
	if err != nil {
		return err
	}
	l, err := driver.Open(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	service, err := lab.StartService(ctx, l, topology, lab.Options{Log: func(name string) (*os.File, error) {
		return os.OpenFile(filepath.Join(dir, name+".log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	}})
	if err != nil {
		return err
	}
	d := of.Conformance()
	o := conform.Options{Servers: service.Endpoints(), Deviates: d.Deviates, Rare: d.Rare, Patience: patience}
	if d.RoundTrips != nil {
		o.RoundTrips = conform.RoundTrips{Acquire: d.RoundTrips.Acquire, Release: d.RoundTrips.Release}
	}
	out, err := os.OpenFile(filepath.Join(dir, resultsFile), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer out.Close()
	conform.All(ctx, impl, o, p.Jobs, func(r conform.Result) {
		if ctx.Err() == nil { // else it says nothing of the lock
			err = errors.Join(err, write(out, r))
		}
	})
	return errors.Join(err, ctx.Err())
}

// patience is how much longer than a lock in Go a program may take: it waits for its process to
// start, and some wait in it for their turn.
const patience = 2

func write(out *os.File, r conform.Result) error {
	one := Result{Check: r.Check, OK: r.OK(), Deviates: r.Deviates, Note: r.Note}
	if r.Err != nil {
		one.Error = r.Err.Error()
	}
	var line bytes.Buffer
	if err := json.NewEncoder(&line).Encode(one); err != nil {
		return err
	}
	_, err := out.Write(line.Bytes()) // a line at a time, for who follows
	return err
}
