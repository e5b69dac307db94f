package lifecycle

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// cause is why a pod must end.
type cause struct {
	// phase the pod ends in; empty leaves it to the exit codes.
	phase corev1.PodPhase
	// reason and message of the pod's status.
	reason, message string
	// deadline is when everything must have stopped.
	deadline time.Time
	// shortGrace: the containers get no more than evictionGrace, even if the pod's grace period is longer.
	shortGrace bool
	// disruption: the pod ends through no fault of its own.
	disruption bool
	// cutShort: the containers were stopped or lost, they have not exited by themselves.
	cutShort bool
}

// causes are checked in this order, and the first that applies decides. What the containers did by themselves before a
// limit was reached takes precedence over the limit.
var causes = []func(*plan) *cause{
	endedExternally,
	refused,
	lost,
	initFailed,
	completed,
	evicted,
	deadlineExceeded,
	deleted,
}

func refused(p *plan) *cause {
	if p.Refusal == nil || p.anyStarted() {
		return nil
	}
	return &cause{phase: corev1.PodFailed, reason: p.Refusal.Reason, message: p.Refusal.Message, deadline: p.Now}
}

func lost(p *plan) *cause {
	for _, c := range p.containers {
		if c.role != ephemeral && c.Last != nil && c.Last.Lost {
			return &cause{
				phase:      corev1.PodFailed,
				message:    "container " + c.spec.Name + " was lost together with its host process",
				deadline:   p.Now.Add(p.grace()),
				disruption: true,
				cutShort:   true,
			}
		}
	}
	return nil
}

func initFailed(p *plan) *cause {
	for _, c := range p.containers {
		if c.role == initial && c.Exited() && c.Last.ExitCode != 0 && !restartsInit(p.Pod, c.spec, c.Last.ExitCode) &&
			p.beforeLimits(c.Last.FinishedAt) {
			return &cause{phase: corev1.PodFailed, deadline: c.Last.FinishedAt.Add(p.grace())}
		}
	}
	return nil
}

func completed(p *plan) *cause {
	var last time.Time
	for _, c := range p.containers {
		if c.role != main {
			continue
		}
		if !c.Exited() || c.restarts(p.Pod) {
			return nil
		}
		if c.Last.FinishedAt.After(last) {
			last = c.Last.FinishedAt
		}
	}
	if !p.beforeLimits(last) {
		return nil
	}
	return &cause{deadline: last.Add(p.grace())}
}

// deadlineExceededReason is the kubelet's reason, which scripts look for.
const deadlineExceededReason = "DeadlineExceeded"

func deadlineExceeded(p *plan) *cause {
	limit, ok := p.activeDeadline()
	if !ok || p.Now.Before(limit) {
		return nil
	}
	return &cause{
		phase:    corev1.PodFailed,
		reason:   deadlineExceededReason,
		message:  "Pod was active on the node longer than the specified deadline",
		deadline: limit.Add(p.grace()),
		cutShort: true,
	}
}

func deleted(p *plan) *cause {
	if p.Pod.DeletionTimestamp == nil {
		return nil
	}
	return &cause{deadline: deletionDeadline(p.Pod), cutShort: true}
}

// deletionDeadline returns when the grace period of a deleted pod is over. Times in the API are cut to whole seconds. A second
// more makes sure that no pod has less than its grace period.
func deletionDeadline(pod *corev1.Pod) time.Time {
	if ptr.Deref(pod.DeletionGracePeriodSeconds, 1) == 0 {
		return pod.DeletionTimestamp.Time
	}
	return pod.DeletionTimestamp.Add(time.Second)
}

// activeDeadline returns when the pod's activeDeadlineSeconds are over.
func (p *plan) activeDeadline() (time.Time, bool) {
	seconds := p.Pod.Spec.ActiveDeadlineSeconds
	if seconds == nil || p.StartTime.IsZero() {
		return time.Time{}, false
	}
	return p.StartTime.Add(time.Duration(*seconds) * time.Second), true
}

// beforeLimits reports whether a container that exited at t did so before the pod's eviction and active deadline.
func (p *plan) beforeLimits(t time.Time) bool {
	if p.Eviction != nil && t.After(p.Eviction.At) {
		return false
	}
	limit, ok := p.activeDeadline()
	return !ok || !t.After(limit)
}

func (p *plan) grace() time.Duration {
	if s := p.Pod.Spec.TerminationGracePeriodSeconds; s != nil {
		return time.Duration(*s) * time.Second
	}
	return corev1.DefaultTerminationGracePeriodSeconds * time.Second
}
