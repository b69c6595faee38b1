package kubernetes

import (
	"fmt"
	"strings"

	core "k8s.io/api/core/v1"
)

// oneLine is the last line of what a program has said.
func oneLine(text string) string {
	text = strings.TrimSpace(text)
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}

// whyEnded says of a pod that has ended, or that is being ended, by what.
func whyEnded(p *core.Pod) string {
	for _, c := range p.Status.Conditions {
		if c.Type == core.DisruptionTarget && c.Status == core.ConditionTrue {
			return colon(disrupted(c.Reason), c.Message)
		}
	}
	if p.Status.Reason != "" {
		return colon(p.Status.Reason, p.Status.Message)
	}
	for _, c := range p.Status.ContainerStatuses {
		if t := c.State.Terminated; t != nil {
			return colon(endOf(t), oneLine(t.Message))
		}
	}
	if p.DeletionTimestamp != nil {
		return "the pod was deleted"
	}
	return colon("the pod ended", p.Status.Message)
}

// disrupted says what the cluster calls by one word.
func disrupted(reason string) string {
	switch reason {
	case core.PodReasonPreemptionByScheduler:
		return "a pod that matters more took its place"
	case "DeletionByTaintManager":
		return "its node does not answer, or was tainted"
	case "EvictionByEvictionAPI":
		return "it was evicted, as when a node is drained"
	case "DeletionByPodGC":
		return "its node is gone"
	case core.PodReasonTerminationByKubelet:
		return "its node needed the room, or was shut down"
	}
	return reason
}

func endOf(t *core.ContainerStateTerminated) string {
	switch {
	case t.Reason == "OOMKilled":
		return "it used more memory than it may (OOMKilled)"
	case t.Signal != 0:
		return fmt.Sprintf("signal %d", t.Signal)
	case t.ExitCode == interrupted:
		return "it was told to end"
	case t.ExitCode > 128:
		return fmt.Sprintf("exit code %d, as by signal %d", t.ExitCode, t.ExitCode-128)
	}
	return fmt.Sprintf("exit code %d", t.ExitCode)
}

func colon(what, detail string) string {
	if detail = strings.TrimSuffix(strings.TrimSpace(detail), "."); detail == "" {
		return what
	}
	return what + ": " + detail
}

// The exit codes of this program that mean something here.
const (
	cantRun       = 4  // the machine can't do it
	wronglyCalled = 64 // and another pod would be, too
	interrupted   = 130
)

// exited reports whether the pod's program ended with this code.
func exited(p *core.Pod, code int32) bool {
	for _, c := range p.Status.ContainerStatuses {
		if c.State.Terminated != nil && c.State.Terminated.ExitCode == code {
			return true
		}
	}
	return false
}

// delay is why a pod has not started yet.
type delay struct {
	what   string // the kind of it, in words; "" if nothing is wrong so far
	detail string
	// wrong: it is not for want of room.
	wrong bool
}

// whyWaits says why a pod that is still pending has not started.
func whyWaits(p *core.Pod) delay {
	for _, c := range p.Status.Conditions {
		if c.Type == core.PodScheduled && c.Status == core.ConditionFalse {
			return delay{what: "for a node", detail: strings.TrimSuffix(strings.TrimSpace(c.Message), ".")}
		}
	}
	for _, c := range p.Status.ContainerStatuses {
		switch w := c.State.Waiting; {
		case w == nil:
		case w.Reason == "ErrImagePull" || w.Reason == "ImagePullBackOff" || w.Reason == "InvalidImageName" || w.Reason == "ErrImageNeverPull":
			return delay{what: "for the image " + c.Image, detail: colon(w.Reason, w.Message), wrong: true}
		case w.Reason != "ContainerCreating" && w.Reason != "PodInitializing":
			return delay{what: "to be started", detail: colon(w.Reason, w.Message), wrong: true}
		}
	}
	return delay{}
}
