package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	failure "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

// Watcher is whoever follows a job. What it is told comes from one goroutine at a time.
type Watcher struct {
	// Line is told each line of JSON that a shard's program prints, from 0. A line may come again.
	Line func(shard int, line []byte)
	// Again is told that the shard begins again, and that what was told of it does not count.
	Again func(shard int)
	// Take takes what the shard has left in dir, or says what is wrong with it.
	Take func(shard int, dir string) error
	// Stand is told how many shards are at what.
	Stand func(Stand)
	// Say is told, in a sentence, what people want to know.
	Say func(format string, args ...any)
}

// Stand is how many shards are at what.
type Stand struct{ Collected, Running, Waiting, Lost int }

// Lost is a shard of which nothing comes.
type Lost struct {
	Shard int // from 0
	Why   string
}

// ErrNoStart: no pod of the job gets as far as to start.
var ErrNoStart = errors.New("no shard can start")

// ErrRefused: the pods refuse the work, which no other pod would do either.
var ErrRefused = errors.New("the pods refuse the work")

// ErrNoRoom: what comes can't be kept here. The pods still have it.
var ErrNoRoom = errors.New("what the shards have recorded can't be kept here")

const (
	lookEvery  = 2 * time.Second
	noStart    = 5 * time.Minute  // until a job of which nothing starts is given up
	noPod      = 20 * time.Second // until it is said that a shard has none; a cluster makes the first in a second
	atOnce     = 2                // shards that are collected at the same time
	fetches    = 3                // from one pod that arrive damaged, before another has to begin again
	mostWaits  = 10               // times lookEvery, between one attempt and the next
	heartbeats = 20 * time.Second
)

// Follow watches the job until each of its shards was taken, or is lost. Directories are unpacked
// below incoming, which is to be on the file system where they are taken to.
func (c *Cluster) Follow(ctx context.Context, job *batch.Job, incoming string, w Watcher) ([]Lost, error) {
	if err := os.MkdirAll(incoming, 0o755); err != nil {
		return nil, err
	}
	defer os.RemoveAll(incoming)
	inner, cancel := context.WithCancel(ctx)
	f := newFollow(job, incoming, w)
	f.read = func(p *pod) { f.wg.Go(func() { c.read(inner, f, p) }) }
	f.fetch = func(p *pod) { f.wg.Go(func() { c.fetch(inner, f, p) }) }
	f.end = func(p *pod, how string) { f.wg.Go(func() { c.end(inner, f, p, how) }) }
	defer func() {
		cancel()
		f.wg.Wait()
	}()
	return f.run(ctx, c)
}

// follow is one who follows a job. All of it is touched by one goroutine; what others have found
// out comes through later.
type follow struct {
	Watcher
	job      string
	incoming string
	shards   []shard
	pods     map[types.UID]*pod
	said     map[string]bool // what is said once only
	fetching int
	broke    error     // what came can't be kept, or may not be asked for
	stuck    time.Time // since when nothing can start
	answered time.Time // when the cluster last did
	beat     time.Time // when it was told that somebody follows

	later chan func()
	wg    sync.WaitGroup
	// What is done in goroutines of their own.
	read, fetch func(*pod)
	end         func(p *pod, how string)
}

// shard is one part of the work.
type shard struct {
	collected bool
	lost      string    // why nothing comes of it
	ends      int       // pods of it that have ended
	last      string    // by what the last one did
	without   time.Time // since when it has no pod, if it has none
}

// pod is what is known of one pod.
type pod struct {
	name, node string
	shard      int
	running    bool // and not being ended
	over       bool // it has ended, and that was told
	reading    bool // its log is read
	waits      bool // its directory is complete
	busy       bool // something is asked of it
	tries      int  // times that it could not be collected
	failed     int  // of those, by what it had, or after all patience
	since      time.Time
	next       time.Time
}

func newFollow(job *batch.Job, incoming string, w Watcher) *follow {
	return &follow{Watcher: w, job: job.Name, incoming: incoming, shards: make([]shard, *job.Spec.Completions),
		pods: map[types.UID]*pod{}, said: map[string]bool{}, answered: time.Now(), later: make(chan func())}
}

func (f *follow) run(ctx context.Context, c *Cluster) ([]Lost, error) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		if err := f.look(ctx, c); err != nil {
			return f.lost(), err
		}
		if f.done() || f.broke != nil {
			return f.lost(), f.broke
		}
		for waiting := true; waiting; {
			select {
			case do := <-f.later:
				do()
				waiting = !f.done() && f.broke == nil
			case <-tick.C:
				waiting = false
			case <-ctx.Done():
				return f.lost(), ctx.Err()
			}
		}
	}
}

// look asks the cluster how things stand. A cluster that does not answer for a while is
// waited for.
func (f *follow) look(ctx context.Context, c *Cluster) error {
	job, err := c.Job(ctx, f.job)
	var pods []core.Pod
	if err == nil {
		pods, err = c.pods(ctx, f.job)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case failure.IsNotFound(err):
		f.lose("somebody has removed the job")
		return nil
	case denied(err):
		return fmt.Errorf("follow job %s: %w", f.job, err)
	case err != nil && time.Since(f.answered) > patience:
		return fmt.Errorf("follow job %s: the cluster has not answered for %v: %w", f.job, patience, err)
	case err != nil:
		f.once("silent", "the cluster does not answer, and is asked again: %v", err)
		return nil
	}
	f.answered = time.Now()
	delete(f.said, "silent")
	if job.Annotations[annotationFollowed] != "" && time.Since(f.beat) > heartbeats {
		f.beat = time.Now()
		_ = c.annotate(ctx, f.job, annotationFollowed, f.beat.UTC().Format(time.RFC3339)) // only clean asks for it
	}
	return f.see(job, pods)
}

func (f *follow) once(key, format string, args ...any) {
	if !f.said[key] {
		f.said[key] = true
		f.Say(format, args...)
	}
}

// name is the shard as people are told of it.
func (f *follow) name(shard int) string { return fmt.Sprintf("shard %d/%d", shard+1, len(f.shards)) }

func (s *shard) open() bool { return !s.collected && s.lost == "" }

func (f *follow) done() bool {
	for i := range f.shards {
		if f.shards[i].open() {
			return false
		}
	}
	return true
}

// lose gives up all that is still open.
func (f *follow) lose(why string) {
	for i := range f.shards {
		if s := &f.shards[i]; s.open() {
			s.lost = why
		}
	}
}

func (f *follow) lost() (all []Lost) {
	for i, s := range f.shards {
		if !s.collected {
			all = append(all, Lost{i, s.lost})
		}
	}
	return all
}
