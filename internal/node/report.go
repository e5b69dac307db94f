package node

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/alarm"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/node/diskpressure"
	"github.com/stint-dev/stint/internal/node/lifecycle"
	"github.com/stint-dev/stint/internal/persistentvolume"
)

const (
	// reportAfter is how long a change of a status waits for others before it is written. Most pods of large Jobs have
	// terminated by then, and take one write; users do not notice the delay.
	reportAfter = 100 * time.Millisecond
	// reportWaitingAfter is how long a pod waits for resources, and no other pod gets any, before its status says so.
	// While the queue moves, the pod may not need that write. After reportWaitingLatest its status says so in any case.
	reportWaitingAfter  = time.Second
	reportWaitingLatest = 10 * time.Second
)

// statusManager writes the statuses of pods, with few writes.
type statusManager struct {
	pods      client.Resource[*corev1.Pod]
	node      string
	scheduler *scheduler
	alarm     *alarm.Alarm[types.UID]
	events    podEvents
	// after is reportAfter.
	after time.Duration
	// cordoned: this node takes no new pods, and does not report that they wait.
	cordoned bool
}

// report writes the status of a pod that has not terminated, once the stored one has been out of date for after, and
// sets the pod's alarm.
func (m *statusManager) report(ctx context.Context, p *pod, api *corev1.Pod, d lifecycle.Decision, t time.Time) {
	wake := d.RequeueAt
	if equality.Semantic.DeepEqual(lifecycle.Merge(api.Status, d.Status, t), api.Status) {
		p.changedAt = time.Time{}
		m.alarm.Set(p.uid, wake)
		return
	}
	if p.changedAt.IsZero() {
		p.changedAt = t
	}
	due := p.changedAt.Add(m.after)
	if !t.Before(due) {
		if m.write(ctx, p, api, m.bind(d.Status)) {
			p.changedAt = time.Time{}
			m.events.recordStarted(p, api)
		}
		due = p.retryTime()
	}
	m.alarm.Set(p.uid, earlier(wake, due))
}

// reportWaiting reports once what a pod waits for.
func (m *statusManager) reportWaiting(ctx context.Context, p *pod, api *corev1.Pod, t time.Time) {
	reason, message := m.scheduler.explain(p.uid)
	if message == "" || m.cordoned || hasWaitReason(api, reason, message) {
		return
	}
	if p.waitingSince.IsZero() {
		p.waitingSince = t
	}
	due := waitingDue(p.waitingSince, m.scheduler.lastMoved())
	switch {
	case reason != corev1.PodReasonUnschedulable:
	case persistentvolume.UsesClaims(api):
		due = p.waitingSince.Add(reportWaitingAfter) // Claims are bound in a moment, if they can be.
	default:
		due = p.waitingSince // This pod can never start, even if the queue moves.
	}
	if !t.Before(due) {
		written := m.write(ctx, p, api, func(pod *corev1.Pod) {
			pod.Status = lifecycle.WithCondition(pod.Status, lifecycle.UnscheduledCondition(pod.Generation, reason, message), t)
		})
		if written {
			m.events.Event(api, corev1.EventTypeWarning, "FailedScheduling", message)
		}
		due = p.retryTime()
	}
	m.alarm.Set(p.uid, due)
}

func waitingDue(since, moved time.Time) time.Time {
	standsStill := moved.Add(reportWaitingAfter)
	if early := since.Add(reportWaitingAfter); standsStill.Before(early) {
		return early
	}
	return earlier(standsStill, since.Add(reportWaitingLatest))
}

// hasWaitReason reports whether the pod's status has this reason already. A message about free resources may be old:
// its changes are not worth a write each.
func hasWaitReason(api *corev1.Pod, reason, message string) bool {
	for _, c := range api.Status.Conditions {
		if c.Type == corev1.PodScheduled {
			return c.Status == corev1.ConditionFalse && c.Reason == reason &&
				(reason == lifecycle.WaitingForTurn || diskpressure.SaysTheSame(c.Message, message))
		}
	}
	return false
}

// reportNow writes the status without a delay. It reports whether to sync the pod again at once.
func (m *statusManager) reportNow(ctx context.Context, p *pod, api *corev1.Pod, change func(*corev1.Pod)) bool {
	if m.write(ctx, p, api, change) || p.notFound {
		return true
	}
	m.alarm.Set(p.uid, p.retryTime())
	return false
}

// bind returns a change that sets the status and, where the pod is bound to no node, binds it to this one.
func (m *statusManager) bind(status corev1.PodStatus) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		if pod.Spec.NodeName == "" {
			pod.Spec.NodeName = m.node
		}
		pod.Status = lifecycle.Merge(pod.Status, status, now())
	}
}

// write changes the pod's status in the API server, and reports whether it could.
func (m *statusManager) write(ctx context.Context, p *pod, api *corev1.Pod, change func(*corev1.Pod)) bool {
	written, err := m.pods.ModifyStatus(ctx, api, change)
	switch {
	case err == nil:
		p.observe(written)
		p.failures = 0
		return true
	case apierrors.IsNotFound(err):
		p.mu.Lock()
		p.notFound = true
		p.mu.Unlock()
		return false
	}
	warn(ctx, "write pod status", err, "pod", api.Namespace+"/"+api.Name)
	p.failures++
	return false
}

// retryTime is when to write again; zero if the last write succeeded.
func (p *pod) retryTime() time.Time {
	if p.failures == 0 {
		return time.Time{}
	}
	return now().Add(retryDelay(p.failures - 1))
}

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
