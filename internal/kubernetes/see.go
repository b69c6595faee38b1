package kubernetes

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"

	"github.com/lockbench/lockbench/internal/english"
)

// see takes in how things stand, says what is new, and has done what is to be done next.
func (f *follow) see(job *batch.Job, pods []core.Pod) error {
	var stand Stand
	waits := map[delay][]int{} // shards, by why
	running := map[string][]int{}
	present, has := map[*pod]bool{}, map[int]bool{}
	for i := range pods {
		at := &pods[i]
		n := indexOf(at.Annotations)
		if n < 0 || n >= len(f.shards) {
			continue
		}
		p := f.known(at, n)
		present[p] = true
		if err := f.pod(p, at); err != nil {
			return err
		}
		open := f.shards[n].open()
		has[n] = has[n] || !p.over
		switch d := whyWaits(at); {
		case p.running && open:
			stand.Running++
			running[p.node] = append(running[p.node], n)
		case at.Status.Phase == core.PodPending && at.DeletionTimestamp == nil && open:
			stand.Waiting++
			if d.what != "" {
				waits[d] = append(waits[d], n)
			}
		}
	}
	for _, p := range f.pods {
		if !present[p] && !p.over {
			f.ended(p, "the pod is gone")
		}
	}
	f.verdict(job)
	f.sayWaits(waits)
	f.sayNone(job, has, time.Now())
	f.sayTogether(running)
	for _, s := range f.shards {
		switch {
		case s.collected:
			stand.Collected++
		case s.lost != "":
			stand.Lost++
		}
	}
	f.Stand(stand)
	return f.started(stand, waits)
}

// known is what is known of the pod.
func (f *follow) known(at *core.Pod, shard int) *pod {
	p := f.pods[at.UID]
	if p == nil {
		p = &pod{name: at.Name, shard: shard}
		f.pods[at.UID] = p
	}
	p.node = at.Spec.NodeName
	return p
}

// pod does with a pod what is next.
func (f *follow) pod(p *pod, at *core.Pod) error {
	s := &f.shards[p.shard]
	over := at.Status.Phase == core.PodFailed || at.Status.Phase == core.PodSucceeded || at.DeletionTimestamp != nil
	was := p.running
	p.running = at.Status.Phase == core.PodRunning && !over
	if p.running && !was && s.open() {
		f.Say("%s runs on %s", f.name(p.shard), p.node)
	}
	switch {
	case over && !p.over && at.Status.Phase == core.PodSucceeded:
		p.over = true
	case over && !p.over:
		why := whyEnded(at)
		f.ended(p, why)
		if exited(at, cantRun) && s.open() && at.Spec.SecurityContext != nil && at.Spec.SecurityContext.RunAsNonRoot != nil {
			f.once("rights", "if it is that the nodes let no user make namespaces: --pod-rights capabilities is for such nodes")
		}
		if exited(at, wronglyCalled) && s.open() {
			return fmt.Errorf("%w: %s", ErrRefused, why)
		}
	case !p.running:
	case s.collected && !p.busy: // and another pod of it came up
		p.busy = true
		f.end(p, collected)
	case !s.open():
	case !p.reading && !p.waits:
		p.reading = true
		f.read(p)
	case p.waits && !p.busy && f.fetching < atOnce && time.Now().After(p.next):
		p.busy = true
		if p.failed >= fetches {
			f.end(p, damaged)
			break
		}
		f.fetching++
		f.fetch(p)
	}
	return nil
}

// ended tells of a pod that has ended before its shard was collected.
func (f *follow) ended(p *pod, why string) {
	p.over, p.running = true, false
	s := &f.shards[p.shard]
	if !s.open() {
		return
	}
	s.ends++
	s.last = why
	f.Again(p.shard)
	where := ""
	if p.node != "" {
		where = " on " + p.node
	}
	f.Say("%s: pod %s%s ended before its shard was collected: %s", f.name(p.shard), p.name, where, why)
}

// verdict takes in what the cluster says of whole shards.
func (f *follow) verdict(job *batch.Job) {
	for _, i := range intervals(job.Status.CompletedIndexes) {
		if i < len(f.shards) && f.shards[i].open() && !f.asked(i) {
			f.shards[i].lost = "it was collected before, by another command"
		}
	}
	failed := ""
	if job.Status.FailedIndexes != nil {
		failed = *job.Status.FailedIndexes
	}
	for _, i := range intervals(failed) {
		if i < len(f.shards) && f.shards[i].open() {
			s := &f.shards[i]
			s.lost = fmt.Sprintf("its pod ended %s, the last one by this: %s", english.Count(max(1, s.ends), "time"), s.last)
		}
	}
	for _, c := range job.Status.Conditions {
		if c.Status != core.ConditionTrue || c.Type != batch.JobFailed && c.Type != batch.JobFailureTarget || c.Reason == batch.JobReasonFailedIndexes {
			continue
		}
		if c.Reason == batch.JobReasonDeadlineExceeded {
			f.lose(fmt.Sprintf("the job's deadline (%v) passed before it was collected; --deadline sets another", time.Duration(*job.Spec.ActiveDeadlineSeconds)*time.Second))
			continue
		}
		f.lose(colon("the cluster ended the job", colon(c.Reason, c.Message)))
	}
}

// asked reports whether a pod of the shard is just being collected.
func (f *follow) asked(shard int) bool {
	for _, p := range f.pods {
		if p.shard == shard && p.busy {
			return true
		}
	}
	return false
}

// intervals are the numbers of such as 1,3-5.
func intervals(text string) (all []int) {
	if text == "" {
		return nil
	}
	for _, part := range strings.Split(text, ",") {
		from, to, both := strings.Cut(part, "-")
		a, err := strconv.Atoi(from)
		b := a
		if both && err == nil {
			b, err = strconv.Atoi(to)
		}
		for ; err == nil && a <= b; a++ {
			all = append(all, a)
		}
	}
	return all
}

// sayWaits says why shards have not started, once for each reason.
func (f *follow) sayWaits(waits map[delay][]int) {
	for d, shards := range waits {
		f.once("waits "+d.what, "%s %s: %s", f.these(shards, "waits", "wait"), d.what, d.detail)
	}
}

// sayNone says which shards have had no pod for a while. Why, only the events of the job tell, which are not read here: the right
// to read them would be asked of everybody who follows.
func (f *follow) sayNone(job *batch.Job, has map[int]bool, now time.Time) {
	var none []int
	for i := range f.shards {
		s := &f.shards[i]
		if has[i] || !s.open() {
			s.without = time.Time{}
			continue
		}
		if s.without.IsZero() {
			s.without = now
		}
		if now.Sub(s.without) > noPod {
			none = append(none, i)
		}
	}
	if len(none) == 0 {
		delete(f.said, "none")
		return
	}
	f.once("none", "%s had no pod for %v, neither one that starts nor one that runs: kubectl describe job %s --namespace %s says why",
		f.these(none, "has", "have"), noPod, job.Name, cmp.Or(job.Namespace, "default"))
}

// sayTogether says that shards share nodes.
func (f *follow) sayTogether(running map[string][]int) {
	all := 0
	for _, shards := range running {
		all += len(shards)
	}
	if all > len(running) {
		f.once("together", "%d shards run on %s: those that share one disturb each other's timing, and more runs than elsewhere may prove nothing (fewer --shards, or more --pod-resources, keep them apart)",
			all, english.Count(len(running), "node"))
	}
}

// these are the shards as the subject of a verb.
func (f *follow) these(shards []int, is, are string) string {
	if len(shards) == 1 {
		return f.name(shards[0]) + " " + is
	}
	slices.Sort(shards)
	var names []string
	for _, n := range shards {
		names = append(names, fmt.Sprint(n+1))
	}
	return fmt.Sprintf("shards %s of %d %s", strings.Join(names, ", "), len(f.shards), are)
}

// started gives up where nothing starts, for a reason that does not pass.
func (f *follow) started(stand Stand, waits map[delay][]int) error {
	wrong, detail := 0, ""
	for d, shards := range waits {
		if d.wrong {
			wrong += len(shards)
			detail = "it waits " + d.what + ": " + d.detail
		}
	}
	if stand.Running > 0 || wrong == 0 || wrong < stand.Waiting {
		f.stuck = time.Time{}
		return nil
	}
	if f.stuck.IsZero() {
		f.stuck = time.Now()
	}
	if time.Since(f.stuck) > noStart {
		return fmt.Errorf("%w: %s", ErrNoStart, detail)
	}
	return nil
}
