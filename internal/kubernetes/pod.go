package kubernetes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	batch "k8s.io/api/batch/v1"
)

// What lies in the home of a pod.
const (
	shardDir = "shard" // what the shard leaves
	endFile  = "end"   // what is to become of the pod, which whoever follows the job decides
)

// What is to become of a pod.
const (
	collected = "collected" // the directory has arrived, and the pod may end
	damaged   = "damaged"   // it never arrives whole: another pod is to begin again
)

// ErrDamaged: what the shard has left never arrived whole.
var ErrDamaged = errors.New("what the shard has recorded can't be collected, and another pod begins it again")

var errCollected = errors.New("collected")

// Index is which shard this pod is to do, from 0.
func Index() (int, error) {
	text := os.Getenv("JOB_COMPLETION_INDEX")
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("this is no pod of an Indexed Job: JOB_COMPLETION_INDEX is %q", text)
	}
	return n, nil
}

// waiting is the last line that a pod prints: its directory is complete.
type waiting struct {
	Waits bool `json:"waits"`
}

// Serve is what a pod does, in a directory of its own: it has the work done below it, says on out that it has
// ended, and waits until the directory has been collected. Where the same shard has been
// collected from another pod, it ends at once.
func Serve(ctx context.Context, home string, out io.Writer, work func(ctx context.Context, dir string) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go func() { stop(awaitEnd(ctx, filepath.Join(home, endFile))) }()
	err := work(ctx, filepath.Join(home, shardDir))
	if err == nil {
		if err = json.NewEncoder(out).Encode(waiting{true}); err != nil {
			return err
		}
		<-ctx.Done()
		err = ctx.Err()
	}
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errCollected):
		return nil
	case errors.Is(cause, ErrDamaged):
		return cause
	}
	return err
}

// awaitEnd waits for the file that says what is to become of the pod.
func awaitEnd(ctx context.Context, file string) error {
	const every = 500 * time.Millisecond
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		switch text, err := os.ReadFile(file); {
		case err == nil && string(text) == collected:
			return errCollected
		case err == nil && string(text) == damaged:
			return ErrDamaged
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// HandOver writes what the shard of this pod has left, for [Cluster.Follow].
func HandOver(home string, out io.Writer) error { return pack(out, filepath.Join(home, shardDir)) }

// End says to [Serve] in the same pod what is to become of it.
func End(home, how string) error {
	if how != collected && how != damaged {
		return fmt.Errorf("end as what: %s or %s, not %q", collected, damaged, how)
	}
	file := filepath.Join(home, endFile)
	if err := os.WriteFile(file+".new", []byte(how), 0o644); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

// The verbs of this program that a pod is called with.
const (
	HandOverVerb = "pod-hand-over"
	EndVerb      = "pod-end"
)

// indexOf is which shard a pod or a job's pod is of; -1 for none.
func indexOf(annotations map[string]string) int {
	n, err := strconv.Atoi(annotations[batch.JobCompletionIndexAnnotation])
	if err != nil {
		return -1
	}
	return n
}
