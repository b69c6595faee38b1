package kubernetes

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	failure "k8s.io/apimachinery/pkg/api/errors"
)

// stalled is how long a pod may send nothing while it is collected.
const stalled = time.Minute

// do has something done by the goroutine that follows.
func (f *follow) do(ctx context.Context, do func()) {
	select {
	case f.later <- do:
	case <-ctx.Done():
	}
}

// read tells of what the pod's program prints, until the log ends.
func (c *Cluster) read(ctx context.Context, f *follow, p *pod) {
	defer f.do(ctx, func() { p.reading = false })
	log, err := c.log(ctx, p.name)
	if denied(err) {
		f.do(ctx, func() { f.broke = fmt.Errorf("read what pod %s prints: %w", p.name, err) })
	}
	if err != nil { // the next look tries again
		return
	}
	defer log.Close()
	f.lines(ctx, p, log)
}

// lines tells of each line of JSON. What else is printed is for people, who read it with
// kubectl logs.
func (f *follow) lines(ctx context.Context, p *pod, log io.Reader) {
	const longest = 1 << 20
	s := bufio.NewScanner(log)
	s.Buffer(nil, longest)
	for s.Scan() {
		line := bytes.Clone(s.Bytes())
		if !bytes.HasPrefix(line, []byte("{")) {
			continue
		}
		var w waiting
		waits := json.Unmarshal(line, &w) == nil && w.Waits
		f.do(ctx, func() {
			switch {
			case waits:
				p.waits = true
			case !p.over && f.shards[p.shard].open():
				f.Line(p.shard, line)
			}
		})
	}
}

// fetch brings back what the pod's shard has left.
func (c *Cluster) fetch(ctx context.Context, f *follow, p *pod) {
	dir := filepath.Join(f.incoming, fmt.Sprint(p.shard+1))
	err := fetchInto(ctx, dir, func(ctx context.Context, w io.Writer) error {
		return c.exec(ctx, p.name, w, HandOverVerb)
	})
	f.do(ctx, func() { f.arrived(p, dir, err) })
}

// fetchInto makes the directory of what send writes.
func fetchInto(ctx context.Context, dir string, send func(context.Context, io.Writer) error) error {
	if err := os.RemoveAll(dir); err != nil { // of an earlier attempt
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	impatient := time.AfterFunc(stalled, func() { cancel(fmt.Errorf("%w: nothing came for %v", errCut, stalled)) })
	defer impatient.Stop()
	r, w := io.Pipe()
	sent := make(chan error, 1)
	go func() {
		err := send(ctx, noting{w, func() { impatient.Reset(stalled) }})
		if err == nil {
			err = w.Close()
		} else {
			w.CloseWithError(err)
		}
		sent <- err
	}()
	err := unpack(r, dir)
	if errors.Is(err, io.ErrUnexpectedEOF) { // a pod that can't send all says so: it was somebody on the way
		err = fmt.Errorf("%w, as if all were there: %w", errCut, err)
	}
	r.CloseWithError(err) // and send ends, if it has not
	if err == nil {
		err = <-sent
	} else {
		cancel(err)
		<-sent
	}
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(cause, err) {
		err = cause
	}
	return err
}

// noting is a writer that tells of each write.
type noting struct {
	io.Writer
	note func()
}

func (n noting) Write(p []byte) (int, error) {
	n.note()
	return n.Writer.Write(p)
}

// arrived takes what a pod has sent, and lets the pod end.
func (f *follow) arrived(p *pod, dir string, err error) {
	f.fetching--
	s := &f.shards[p.shard]
	if !s.open() { // another pod was quicker, or the job is over
		p.busy = false
		return
	}
	if err == nil {
		err = f.Take(p.shard, dir)
	}
	if err != nil && noRoom(err) {
		f.broke = fmt.Errorf("%w: %w", ErrNoRoom, err)
		return
	}
	if denied(err) {
		f.broke = fmt.Errorf("collect %s: %w", f.name(p.shard), err)
		return
	}
	if err != nil {
		f.tryAgain(p, err)
		return
	}
	s.collected = true
	f.end(p, collected)
}

// tryAgain asks the pod once more, or has another begin again. A network that fails between here and the pod says nothing of what
// the pod has, and gets as much patience as the cluster itself.
func (f *follow) tryAgain(p *pod, err error) {
	p.busy = false
	p.tries++
	if p.since.IsZero() || !p.next.IsZero() && time.Since(p.next) > patience { // an attempt that went on for so long was no failure yet
		p.since = time.Now()
	}
	p.next = time.Now().Add(time.Duration(min(p.tries, mostWaits)) * lookEvery)
	if !errors.Is(err, errCut) || time.Since(p.since) > patience {
		p.failed++
	}
	what := "it is asked again"
	if p.failed >= fetches {
		what = "another pod begins it again"
	}
	if !p.over {
		f.Say("%s did not arrive whole, and %s: %v", f.name(p.shard), what, err)
	}
}

// denied reports whether the cluster knows who asks and says no, or does not let them in any more.
func denied(err error) bool { return failure.IsForbidden(err) || failure.IsUnauthorized(err) }

// noRoom reports whether it is this machine's fault that something did not arrive.
func noRoom(err error) bool {
	for _, ours := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EMFILE, syscall.ENFILE, fs.ErrPermission} {
		if errors.Is(err, ours) {
			return true
		}
	}
	return false
}

// end says to the pod what is to become of it. If that fails the next look sees that it is
// still there.
func (c *Cluster) end(ctx context.Context, f *follow, p *pod, how string) {
	const bound = 20 * time.Second
	ctx2, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	err := c.exec(ctx2, p.name, io.Discard, EndVerb, how)
	f.do(ctx, func() { p.busy = err == nil })
}
