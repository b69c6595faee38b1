package kubernetes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	failure "k8s.io/apimachinery/pkg/api/errors"

	"github.com/lockbench/lockbench/internal/english"
)

// annotationFollowed says when somebody followed the job last, where it ends with them.
const annotationFollowed = "lockbench.org/followed"

// Owned marks a job that is about to be made as one that ends with whoever makes it: if they
// are gone for a while, [Cluster.Clean] removes it.
func Owned(job *batch.Job) {
	if job.Annotations == nil {
		job.Annotations = map[string]string{}
	}
	job.Annotations[annotationFollowed] = time.Now().UTC().Format(time.RFC3339)
}

// Remove removes the job and waits until its pods are gone, or those that are left are on nodes
// that do not answer; it says which those are. That the job is gone already is no error.
func (c *Cluster) Remove(ctx context.Context, job string) (left string, err error) {
	const bound = 40 * time.Second
	if err := c.remove(ctx, job); err != nil && !failure.IsNotFound(err) {
		return "", fmt.Errorf("remove job %s: %w", job, err)
	}
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	for {
		pods, err := c.pods(ctx, job)
		switch {
		case err == nil && len(pods) == 0:
			return "", nil
		case err == nil && !slices.ContainsFunc(pods, mayEnd):
			return leftText(pods), nil
		}
		select {
		case <-ctx.Done():
			if len(pods) > 0 {
				return leftText(pods), nil
			}
			return "", fmt.Errorf("the job %s is removed, and whether its pods are gone is not known: %w", job, cmp.Or(err, ctx.Err()))
		case <-time.After(lookEvery / 2):
		}
	}
}

// mayEnd reports whether the pod may still end as one does: its time for that is not over.
func mayEnd(p core.Pod) bool {
	const late = 10 * time.Second
	return p.DeletionTimestamp == nil || time.Since(p.DeletionTimestamp.Time) < late
}

func leftText(pods []core.Pod) string {
	return "not all pods have ended, and the cluster goes on removing them, at the latest when their nodes answer: " + strings.Join(where(pods), ", ")
}

func where(pods []core.Pod) (names []string) {
	for _, p := range pods {
		names = append(names, p.Name+" on "+p.Spec.NodeName)
	}
	slices.Sort(names)
	return names
}

// abandoned is how long nobody may have followed a job before it is taken for abandoned: longer than whoever
// follows it is patient with a cluster that does not answer, and than clocks of two machines are apart.
const abandoned = 3 * patience

// Clean removes the jobs that have ended, and those whose maker is gone. It names what it
// removed, and says of what it left why.
func (c *Cluster) Clean(ctx context.Context) (removed, left []string, err error) {
	jobs, err := c.jobs(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("list the jobs of namespace %s: %w", c.Namespace, err)
	}
	var errs []error
	for _, job := range jobs {
		why := needed(&job, time.Now())
		if why != "" {
			left = append(left, fmt.Sprintf("job %s: %s", job.Name, why))
			continue
		}
		late, err := c.Remove(ctx, job.Name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		removed = append(removed, "job "+job.Name)
		if late != "" {
			left = append(left, late)
		}
	}
	return removed, left, errors.Join(errs...)
}

// needed says why the job is to stay, or "".
func needed(job *batch.Job, now time.Time) string {
	for _, c := range job.Status.Conditions {
		if (c.Type == batch.JobComplete || c.Type == batch.JobFailed) && c.Status == core.ConditionTrue {
			return ""
		}
	}
	last, err := time.Parse(time.RFC3339, job.Annotations[annotationFollowed])
	if err != nil {
		return "it was applied by hand or by a pipeline, and goes on"
	}
	if ago := now.Sub(last); ago <= abandoned {
		return fmt.Sprintf("it was followed %s ago, and is taken for abandoned after %v", english.Count(max(0, int(ago.Seconds())), "second"), abandoned)
	}
	return ""
}
