package kubernetes

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	failure "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// followed is one who follows a job of three shards, and writes down what is said and done.
type followed struct {
	*follow
	job  *batch.Job
	did  []string
	says []string
	take error
}

func following(t *testing.T) *followed {
	t.Helper()
	text, err := work(t).Manifest()
	if err != nil {
		t.Fatal(err)
	}
	f := &followed{}
	if f.job, err = Decode(text); err != nil {
		t.Fatal(err)
	}
	*f.job.Spec.Completions = 3
	f.follow = newFollow(f.job, t.TempDir(), Watcher{
		Line:  func(shard int, line []byte) { f.note("line %d %s", shard+1, line) },
		Again: func(shard int) { f.note("again %d", shard+1) },
		Take:  func(shard int, _ string) error { f.note("take %d", shard+1); return f.take },
		Stand: func(Stand) {},
		Say:   func(format string, args ...any) { f.says = append(f.says, fmt.Sprintf(format, args...)) },
	})
	f.read = func(p *pod) { f.note("read %s", p.name) }
	f.fetch = func(p *pod) { f.note("fetch %s", p.name) }
	f.end = func(p *pod, how string) { f.note("end %s %s", p.name, how) }
	return f
}

func (f *followed) note(format string, args ...any) {
	f.did = append(f.did, fmt.Sprintf(format, args...))
}

// look sees pods, and returns what was done and said of it.
func (f *followed) look(t *testing.T, pods ...core.Pod) (did, says string) {
	t.Helper()
	f.did, f.says = nil, nil
	if err := f.see(f.job, pods); err != nil {
		t.Fatal(err)
	}
	slices.Sort(f.did)
	return strings.Join(f.did, "; "), strings.Join(f.says, "; ")
}

func podOf(shard int, name, node string, phase core.PodPhase) core.Pod {
	p := core.Pod{ObjectMeta: meta.ObjectMeta{Name: name, UID: types.UID(name), Annotations: map[string]string{batch.JobCompletionIndexAnnotation: fmt.Sprint(shard - 1)}}}
	p.Spec.NodeName, p.Status.Phase = node, phase
	return p
}

func expect(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %q, and not %q", what, got, want)
	}
}

// TestOneShard: its log is read, it is collected when it waits, and then its pod may end.
func TestOneShard(t *testing.T) {
	f := following(t)
	a := podOf(1, "a", "n1", core.PodPending)
	did, says := f.look(t, a)
	expect(t, "pending", did+says, "")
	a.Status.Phase = core.PodRunning
	did, says = f.look(t, a)
	expect(t, "running", did, "read a")
	expect(t, "running", says, "shard 1/3 runs on n1")
	did, says = f.look(t, a)
	expect(t, "still running", did+says, "")
	f.pods["a"].waits = true
	did, _ = f.look(t, a)
	expect(t, "waiting", did, "fetch a")
	did, _ = f.look(t, a)
	expect(t, "while it is fetched", did, "")
	f.arrived(f.pods["a"], "", nil)
	expect(t, "arrived", strings.Join(f.did, "; "), "take 1; end a collected")
	f.pods["a"].busy = false // which did not reach the pod
	did, _ = f.look(t, a)
	expect(t, "not told yet", did, "end a collected")
	a.Status.Phase = core.PodSucceeded
	f.job.Status.CompletedIndexes = "0"
	did, says = f.look(t, a)
	expect(t, "ended", did+says, "")
	if f.shards[0].lost != "" || !f.shards[0].collected || f.done() {
		t.Errorf("%+v", f.shards)
	}
	// Another pod of it, of a node that came back.
	did, says = f.look(t, a, podOf(1, "b", "n2", core.PodRunning))
	expect(t, "one more", did+says, "end b collected")
}

// TestPodDies: what its shard had told is forgotten, the reason is told, and the next pod is
// followed.
func TestPodDies(t *testing.T) {
	f := following(t)
	a := podOf(1, "a", "n1", core.PodRunning)
	f.look(t, a)
	a.Status.Phase = core.PodFailed
	a.Status.ContainerStatuses = []core.ContainerStatus{{State: core.ContainerState{Terminated: &core.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"}}}}
	b := podOf(1, "b", "n2", core.PodRunning)
	did, says := f.look(t, a, b)
	expect(t, "died", did, "again 1; read b")
	expect(t, "died", says, "shard 1/3: pod a on n1 ended before its shard was collected: it used more memory than it may (OOMKilled); shard 1/3 runs on n2")
	did, says = f.look(t, a, b)
	expect(t, "told once", did+says, "")
	// Deleted, and gone before anybody looked.
	did, says = f.look(t, a)
	expect(t, "gone", did, "again 1")
	expect(t, "gone", says, "shard 1/3: pod b on n2 ended before its shard was collected: the pod is gone")
	// Its node does not answer: it may run for ever, as far as the cluster knows.
	c := podOf(1, "c", "n3", core.PodRunning)
	f.look(t, a, c)
	c.DeletionTimestamp = &meta.Time{Time: time.Now()}
	c.Status.Conditions = []core.PodCondition{{Type: core.DisruptionTarget, Status: core.ConditionTrue, Reason: "DeletionByTaintManager", Message: "Taint manager: deleting due to NoExecute taint"}}
	_, says = f.look(t, a, c)
	expect(t, "its node is lost", says, "shard 1/3: pod c on n3 ended before its shard was collected: its node does not answer, or was tainted: Taint manager: deleting due to NoExecute taint")
	// Once too often.
	failed := "0"
	f.job.Status.FailedIndexes = &failed
	f.look(t, a, c)
	expect(t, "lost", f.shards[0].lost, "its pod ended 3 times, the last one by this: its node does not answer, or was tainted: Taint manager: deleting due to NoExecute taint")
}

// TestDoesNotArrive: a pod is asked three times, and then another begins.
func TestDoesNotArrive(t *testing.T) {
	f := following(t)
	a := podOf(2, "a", "n1", core.PodRunning)
	f.look(t, a)
	p := f.pods["a"]
	p.waits = true
	for n := range fetches {
		p.next = time.Time{}
		did, _ := f.look(t, a)
		expect(t, fmt.Sprint("attempt ", n+1), did, "fetch a")
		f.take = errors.New("run 3 of a × b has no plan")
		f.arrived(p, "", nil)
		if n == 0 {
			expect(t, "what is said", f.says[0], "shard 2/3 did not arrive whole, and it is asked again: run 3 of a × b has no plan")
			did, _ := f.look(t, a)
			expect(t, "at once", did, "")
		}
	}
	expect(t, "what is said", f.says[0], "shard 2/3 did not arrive whole, and another pod begins it again: run 3 of a × b has no plan")
	p.next = time.Time{}
	did, _ := f.look(t, a)
	expect(t, "given up", did, "end a damaged")
	if f.shards[1].collected || f.fetching != 0 {
		t.Errorf("%+v, %d are fetched", f.shards[1], f.fetching)
	}
}

// TestCutOff: a network that fails says nothing of what the pod has, until patience is over.
func TestCutOff(t *testing.T) {
	f := following(t)
	a := podOf(2, "a", "n1", core.PodRunning)
	f.look(t, a)
	p := f.pods["a"]
	p.waits = true
	broke := fmt.Errorf("unpack: %w", fmt.Errorf("%w: reset by peer", errCut))
	attempt := func() string {
		p.next = time.Time{}
		did, _ := f.look(t, a)
		if did == "fetch a" {
			f.arrived(p, "", broke)
		}
		return did
	}
	for range 3 * fetches {
		expect(t, "meanwhile", attempt(), "fetch a")
		expect(t, "what is said", f.says[0], "shard 2/3 did not arrive whole, and it is asked again: unpack: the connection to the pod broke: reset by peer")
	}
	p.since = p.since.Add(-patience)
	for range fetches {
		expect(t, "after that", attempt(), "fetch a")
	}
	expect(t, "in the end", attempt(), "end a damaged")
}

// TestMayNotAsk: who may not collect is told so, and the pods keep what they have.
func TestMayNotAsk(t *testing.T) {
	f := following(t)
	a := podOf(2, "a", "n1", core.PodRunning)
	f.look(t, a)
	f.pods["a"].waits = true
	f.look(t, a)
	f.did = nil
	f.arrived(f.pods["a"], "", fmt.Errorf("%w: %w", errCut, failure.NewForbidden(schema.GroupResource{Resource: "pods"}, "a", errors.New("no exec"))))
	if !failure.IsForbidden(f.broke) || f.did != nil || f.shards[1].collected {
		t.Errorf("%v; %v", f.broke, f.did)
	}
}

// TestNoRoom: what can't be kept here is no fault of the pod, which keeps it.
func TestNoRoom(t *testing.T) {
	f := following(t)
	a := podOf(2, "a", "n1", core.PodRunning)
	f.look(t, a)
	f.pods["a"].waits = true
	f.look(t, a)
	f.did = nil
	f.arrived(f.pods["a"], "", &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC})
	if !errors.Is(f.broke, ErrNoRoom) || !errors.Is(f.broke, syscall.ENOSPC) || f.did != nil || f.shards[1].collected {
		t.Errorf("%v; %v", f.broke, f.did)
	}
}

// TestNotAllAtOnce: so many shards are collected at the same time.
func TestNotAllAtOnce(t *testing.T) {
	f := following(t)
	pods := []core.Pod{podOf(1, "a", "n1", core.PodRunning), podOf(2, "b", "n2", core.PodRunning), podOf(3, "c", "n3", core.PodRunning)}
	f.look(t, pods...)
	for _, p := range f.pods {
		p.waits = true
	}
	did, _ := f.look(t, pods...)
	expect(t, "two of three", did, "fetch a; fetch b")
	f.arrived(f.pods["a"], "", nil)
	did, _ = f.look(t, pods...)
	expect(t, "the third", did, "fetch c")
	// The cluster ends the job meanwhile, and what comes now comes too late.
	f.job.Status.Conditions = []batch.JobCondition{{Type: batch.JobFailureTarget, Status: core.ConditionTrue, Reason: batch.JobReasonDeadlineExceeded}}
	f.look(t, pods...)
	expect(t, "the deadline", f.shards[1].lost, "the job's deadline (1h30m0s) passed before it was collected; --deadline sets another")
	f.did = nil
	f.arrived(f.pods["b"], "", nil)
	if !f.done() || len(f.lost()) != 2 || f.did != nil {
		t.Errorf("%+v, %v", f.lost(), f.did)
	}
}

// TestNoPod: where the cluster makes no pod, for a quota or a rule of the namespace, it is said who knows why; once, until
// all shards have one.
func TestNoPod(t *testing.T) {
	f := following(t)
	f.job.Name, f.job.Namespace = "j", "locks"
	later := func(pods ...core.Pod) string {
		for i := range f.shards {
			if s := &f.shards[i]; !s.without.IsZero() {
				s.without = s.without.Add(-noPod)
			}
		}
		_, says := f.look(t, pods...)
		return says
	}
	pending := func(shard int) core.Pod { return podOf(shard, fmt.Sprint(shard), "", core.PodPending) }
	expect(t, "at once", later(), "")
	expect(t, "after a while", later(), "shards 1, 2, 3 of 3 have had no pod for 20s, neither one that starts nor one that runs: kubectl describe job j --namespace locks says why")
	expect(t, "once", later(), "")
	expect(t, "all", later(pending(1), pending(2), pending(3)), "")
	failed := podOf(1, "1", "n1", core.PodFailed)
	f.look(t, failed, pending(2), pending(3))
	expect(t, "after one that failed", later(failed, pending(2), pending(3)),
		"shard 1/3 has had no pod for 20s, neither one that starts nor one that runs: kubectl describe job j --namespace locks says why")
	f.shards[0].collected = true
	delete(f.said, "none")
	expect(t, "collected", later(failed, pending(2), pending(3)), "")
}

// TestWaits: why shards have not started is said once for each reason, and that they share a node.
func TestWaits(t *testing.T) {
	f := following(t)
	b, c := podOf(2, "b", "", core.PodPending), podOf(3, "c", "", core.PodPending)
	for _, p := range []*core.Pod{&b, &c} {
		p.Status.Conditions = []core.PodCondition{{Type: core.PodScheduled, Status: core.ConditionFalse, Message: "0/1 nodes are available: 1 Insufficient cpu."}}
	}
	_, says := f.look(t, c, b)
	expect(t, "no room", says, "shards 2, 3 of 3 wait for a node: 0/1 nodes are available: 1 Insufficient cpu")
	_, says = f.look(t, c, b)
	expect(t, "once", says, "")
	f = following(t)
	_, says = f.look(t, podOf(1, "a", "n1", core.PodRunning), podOf(3, "c", "n1", core.PodRunning))
	if !strings.Contains(says, "2 shards run on 1 node: those that share one disturb each other's timing") {
		t.Error(says)
	}
}

// TestNoStart: where no image comes, nobody waits for ever.
func TestNoStart(t *testing.T) {
	f := following(t)
	a := podOf(1, "a", "n1", core.PodPending)
	a.Status.ContainerStatuses = []core.ContainerStatus{{Image: "x", State: core.ContainerState{Waiting: &core.ContainerStateWaiting{Reason: "ErrImagePull", Message: "not found"}}}}
	_, says := f.look(t, a)
	expect(t, "no image", says, "shard 1/3 waits for the image x: ErrImagePull: not found")
	a.Status.ContainerStatuses[0].State.Waiting.Reason = "ImagePullBackOff"
	_, says = f.look(t, a)
	expect(t, "the same", says, "")
	f.stuck = time.Now().Add(-noStart - time.Second)
	if err := f.see(f.job, []core.Pod{a}); !errors.Is(err, ErrNoStart) || !strings.Contains(err.Error(), "it waits for the image x: ImagePullBackOff: not found") {
		t.Errorf("%v", err)
	}
	f.look(t, a, podOf(2, "b", "n1", core.PodRunning))
	if !f.stuck.IsZero() {
		t.Error("one runs, and nothing starts")
	}
}

// TestRefused: a pod that was called wrongly is none that another replaces.
func TestRefused(t *testing.T) {
	f := following(t)
	a := podOf(1, "a", "n1", core.PodFailed)
	a.Status.ContainerStatuses = []core.ContainerStatus{{State: core.ContainerState{Terminated: &core.ContainerStateTerminated{ExitCode: 64, Message: "warn\nlockbench: the image is another\n"}}}}
	if err := f.see(f.job, []core.Pod{a}); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "exit code 64: lockbench: the image is another") {
		t.Errorf("%v", err)
	}
}

// TestElsewhere: what another command has collected is not waited for.
func TestElsewhere(t *testing.T) {
	f := following(t)
	f.job.Status.CompletedIndexes = "0,2"
	f.look(t, podOf(1, "a", "n1", core.PodSucceeded), podOf(2, "b", "n1", core.PodRunning), podOf(9, "x", "n1", core.PodRunning))
	var lost []int
	for _, l := range f.lost() {
		if l.Why != "" {
			lost = append(lost, l.Shard)
		}
	}
	if !slices.Equal(lost, []int{0, 2}) || f.done() {
		t.Errorf("%+v", f.lost())
	}
}

// TestLines: only lines of JSON are told, and one of them says that all is there.
func TestLines(t *testing.T) {
	f := following(t)
	f.look(t, podOf(1, "a", "n1", core.PodRunning))
	f.did = nil
	end := make(chan struct{})
	go func() {
		f.lines(t.Context(), f.pods["a"], strings.NewReader("warning: x\n{\"done\":1}\n{not json\n\n{\"waits\":true}\n"))
		close(end)
	}()
	for going := true; going; {
		select {
		case do := <-f.later:
			do()
		case <-end:
			going = false
		}
	}
	expect(t, "told", strings.Join(f.did, "; "), `line 1 {"done":1}; line 1 {not json`)
	if !f.pods["a"].waits {
		t.Error("it waits, and nobody has noticed")
	}
}

// TestMayEnd: a pod is waited for as long as it may end; on a node that does not answer none does.
func TestMayEnd(t *testing.T) {
	for want, deadline := range map[bool]*meta.Time{true: {Time: time.Now().Add(time.Second)}, false: {Time: time.Now().Add(-time.Minute)}} {
		if p := (core.Pod{ObjectMeta: meta.ObjectMeta{DeletionTimestamp: deadline}}); mayEnd(p) != want {
			t.Errorf("a pod that is to be gone by %v may end: %v", deadline, !want)
		}
	}
	if !mayEnd(core.Pod{}) {
		t.Error("a pod that nobody deletes can't end")
	}
	expect(t, "what is left", leftText([]core.Pod{podOf(2, "b", "n2", ""), podOf(1, "a", "n1", "")}), "not all pods have ended, and the cluster goes on removing them, at the latest when their nodes answer: a on n1, b on n2")
}

func TestIntervals(t *testing.T) {
	for text, want := range map[string]string{"": "[]", "3": "[3]", "0,2-4,9": "[0 2 3 4 9]", "x,1": "[1]"} {
		expect(t, text, fmt.Sprint(intervals(text)), want)
	}
}

// TestNeeded: clean removes what has ended and what was abandoned, and leaves the rest.
func TestNeeded(t *testing.T) {
	now := time.Now()
	ended := func(of batch.JobConditionType) []batch.JobCondition {
		return []batch.JobCondition{{Type: of, Status: core.ConditionTrue}}
	}
	at := func(ago time.Duration) map[string]string {
		return map[string]string{annotationFollowed: now.Add(-ago).UTC().Format(time.RFC3339)}
	}
	for name, c := range map[string]struct {
		notes map[string]string
		ended []batch.JobCondition
		stays bool
	}{
		"applied":     {nil, nil, true},
		"complete":    {nil, ended(batch.JobComplete), false},
		"failed":      {at(0), ended(batch.JobFailed), false},
		"is ending":   {at(0), ended(batch.JobFailureTarget), true},
		"followed":    {at(30 * time.Second), nil, true},
		"abandoned":   {at(abandoned + 2*time.Second), nil, false},
		"other clock": {at(-time.Hour), nil, true},
	} {
		job := &batch.Job{ObjectMeta: meta.ObjectMeta{Annotations: c.notes}, Status: batch.JobStatus{Conditions: c.ended}}
		if why := needed(job, now); (why != "") != c.stays {
			t.Errorf("%s: %q", name, why)
		}
	}
	job := &batch.Job{}
	Owned(job)
	if why := needed(job, now); !strings.Contains(why, "it was followed 0 seconds ago") {
		t.Errorf("just made: %q", why)
	}
}

// TestWhy: each way in which a pod ends has its words.
func TestWhy(t *testing.T) {
	disruption := func(reason, message string) core.PodStatus {
		return core.PodStatus{Conditions: []core.PodCondition{{Type: core.DisruptionTarget, Status: core.ConditionTrue, Reason: reason, Message: message}}}
	}
	ended := func(s core.ContainerStateTerminated) core.PodStatus {
		return core.PodStatus{ContainerStatuses: []core.ContainerStatus{{State: core.ContainerState{Terminated: &s}}}}
	}
	for want, status := range map[string]core.PodStatus{
		"it was evicted, as when a node is drained: Eviction API: evicting":                disruption("EvictionByEvictionAPI", "Eviction API: evicting"),
		"a pod that matters more took its place":                                           disruption("PreemptionByScheduler", ""),
		"its node is gone":                                                                 disruption("DeletionByPodGC", ""),
		"its node needed the room, or was shut down: The node was low on resource: memory": disruption("TerminationByKubelet", "The node was low on resource: memory. "),
		"NewReason: x": disruption("NewReason", "x"),
		"Evicted: The node was low on resource: memory":     {Reason: "Evicted", Message: "The node was low on resource: memory."},
		"exit code 4: lockbench: this machine can't run it": ended(core.ContainerStateTerminated{ExitCode: 4, Message: "a\nlockbench: this machine can't run it\n"}),
		"it was told to end: lockbench: interrupted":        ended(core.ContainerStateTerminated{ExitCode: 130, Message: "lockbench: interrupted"}),
		"signal 9": ended(core.ContainerStateTerminated{Signal: 9}),
		"it used more memory than it may (OOMKilled)": ended(core.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"}),
		"the pod ended": {},
	} {
		expect(t, want, whyEnded(&core.Pod{Status: status}), want)
	}
	expect(t, "deleted", whyEnded(&core.Pod{ObjectMeta: meta.ObjectMeta{DeletionTimestamp: &meta.Time{}}}), "the pod was deleted")
}
