package scenario_test

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	core "github.com/stint-dev/stint/internal/job"
)

// pendingTimeout is the condition of a pod that could not start.
const pendingTimeout corev1.PodConditionType = "stint.dev/PendingTimeout"

// pendingReason is the pod's reason.
const pendingReason = "PendingTimeout"

func pendingTimeoutSeconds(n string) func(*batchv1.Job) { return asks(core.PendingTimeoutSeconds, n) }

// wait makes pods on the node wait, for a reason.
func (l podList) wait(reason, message string) podList {
	l.scene().Helper()
	return l.each(func(p pod) error {
		if err := p.bind(); err != nil {
			return err
		}
		return p.report(func(s *corev1.PodStatus) {
			s.Phase = corev1.PodPending
			setContainers(p.Pod, s, corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}})
		})
	})
}

// fitsNowhere reports that a scheduler finds no node for the pods.
func (l podList) fitsNowhere(message string) podList {
	l.scene().Helper()
	return l.each(func(p pod) error {
		return p.report(func(s *corev1.PodStatus) {
			setCondition(s, corev1.PodScheduled, corev1.ConditionFalse, corev1.PodReasonUnschedulable)
			s.Conditions[len(s.Conditions)-1].Message = message
		})
	})
}

// areStuck waits until the pending timeout has failed the pods, with the reason for which they waited.
func (l podList) areStuck(reason string) {
	l.scene().Helper()
	l.become("failed, as it is stuck: "+reason, func(p *corev1.Pod) bool {
		return p.Status.Phase == corev1.PodFailed && p.Status.Reason == pendingReason &&
			slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
				return c.Type == pendingTimeout && c.Status == corev1.ConditionTrue && c.Reason == reason
			})
	})
}

// setsPendingTimeout sets the pending timeout of a Job that has none. The pods are already as the scenario wants them,
// however long that took.
func (j *job) setsPendingTimeout(timeout string) {
	j.Helper()
	j.update(pendingTimeoutSeconds(timeout))
}

// outlasts returns when a pending timeout of so many seconds is over for all pods so far: a Job with that timeout, made
// later, has failed by it.
func (s *scene) outlasts(seconds string) {
	s.Helper()
	late := s.create(aJob(named("late"), backoffLimit(0)))
	late.active(1).wait("ImagePullBackOff", "late")
	late.setsPendingTimeout(seconds)
	late.becomes(failedBecause(batchv1.JobReasonBackoffLimitExceeded))
}

// unmakeable puts a bad finalizer into a Job's template. API servers accept the Job, and refuse its pods.
func unmakeable(o *batchv1.Job) { o.Spec.Template.Finalizers = []string{"no name"} }

// pendingTimeoutScenarios are about pods that never start.
var pendingTimeoutScenarios = []scenario{
	{
		name: "a pod that cannot start in time fails with the reason, counts and is replaced",
		play: func(s *scene) {
			j := s.create(aJob(backoff("7200"), backoffLimit(1)))
			j.active(1).wait("ImagePullBackOff", "Back-off pulling image")
			j.setsPendingTimeout("1")
			j.becomes(failed(1), active(0))
			j.update(func(o *batchv1.Job) { delete(o.Annotations, core.PendingTimeoutSeconds); backoff("0")(o) })
			j.active(1).wait("ImagePullBackOff", "Back-off pulling image")
			j.setsPendingTimeout("1")
			j.becomes(exactly("failed=2 " + failedPods))
			j.ended(2).areStuck("ImagePullBackOff")
			j.tellsOf("PendingTimeout")
		},
	},
	{
		name: "a pod failure policy matches pods that cannot start",
		play: func(s *scene) {
			j := s.create(aJob(failurePolicy(onCondition(failJob, pendingTimeout, corev1.ConditionTrue))))
			j.active(1).wait("CreateContainerConfigError", `configmap "absent" not found`)
			j.setsPendingTimeout("1")
			j.becomes(exactly("failed=1 " + failedByPolicy))
		},
	},
	{
		name: "an index fails by a pod that cannot start, as by any failure",
		play: func(s *scene) {
			j := s.create(aJob(indexed(2, 2), limitPerIndex(0)))
			two := j.active(2)
			two[1:].run()
			two[:1].wait("ErrImageNeverPull", "no such image")
			j.setsPendingTimeout("1")
			j.becomes(exactly("active=1 ready=1 failed=1 failedIndexes=0"))
			two[1:].succeed()
			j.becomes(exactly("succeeded=1 failed=1 completed=1 failedIndexes=0 " + failedByIndexes))
		},
	},
	{
		name: "a pod that has started in time is left alone, however long it runs",
		play: func(s *scene) {
			j := s.create(aJob())
			j.active(1).run()
			j.setsPendingTimeout("1")
			s.outlasts("1")
			j.becomes(active(1), ready(1), failed(0))
			j.active(1).succeed()
			j.becomes(succeeded(1), failed(0), complete())
		},
	},
	{
		name: "a pod whose init container works is not stuck",
		play: func(s *scene) {
			j := s.create(aJob(initContainer))
			j.active(1).initialize()
			j.setsPendingTimeout("1")
			s.outlasts("1")
			j.becomes(active(1), failed(0))
			j.update(func(o *batchv1.Job) { delete(o.Annotations, core.PendingTimeoutSeconds) })
			j.active(1).run().succeed()
			j.becomes(succeeded(1), failed(0), complete())
		},
	},
	{
		name: "a pod that waits is left alone where no timeout is asked for",
		play: func(s *scene) {
			j := s.create(aJob())
			j.active(1).wait("ImagePullBackOff", "Back-off pulling image")
			s.outlasts("1")
			j.stays(active(1), failed(0))
			j.active(1).run().succeed()
			j.becomes(succeeded(1), failed(0), complete())
		},
	},
	{
		name: "a pod that no node takes is stuck",
		play: func(s *scene) {
			j := s.create(aJob(backoffLimit(0)))
			j.active(1).fitsNowhere("0/3 nodes are available")
			j.setsPendingTimeout("1")
			j.becomes(exactly("failed=1 " + failedPods))
			j.ended(1).areStuck(corev1.PodReasonUnschedulable)
		},
	},
	{
		name: "a suspended Job's pods are discarded, not failed",
		play: func(s *scene) {
			j := s.create(aJob())
			j.active(1).wait("ImagePullBackOff", "Back-off pulling image")
			j.update(func(o *batchv1.Job) { pendingTimeoutSeconds("1")(o); suspended(o) })
			j.becomes(active(0), failed(0), is(batchv1.JobSuspended, ""))
			s.outlasts("1")
			j.stays(active(0), failed(0))
		},
	},
	{
		name: "a timeout can be asked for while pods wait",
		play: func(s *scene) {
			j := s.create(aJob(backoffLimit(0)))
			j.active(1).wait("ImagePullBackOff", "Back-off pulling image")
			j.stays(active(1), failed(0))
			j.setsPendingTimeout("1")
			j.becomes(exactly("failed=1 " + failedPods))
		},
	},
	{
		name: "a Job fails if all its pods are refused until its pending timeout; one without a timeout does not",
		play: func(s *scene) {
			untimed := s.create(aJob(named("untimed"), unmakeable))
			j := s.create(aJob(unmakeable, pendingTimeoutSeconds("1")))
			j.becomes(exactly("FailureTarget(PendingTimeout) Failed(PendingTimeout)"))
			untimed.becomes(active(0), failed(0))
			j.ended(0)
		},
	},
	{
		name:     "the timeout runs on while the controller is away",
		restarts: true,
		play: func(s *scene) {
			j := s.create(aJob(backoffLimit(0)))
			j.active(1)
			j.setsPendingTimeout("1")
			s.stopController()
			for _, p := range j.podsThat("there are", 1, func(*corev1.Pod) bool { return true }) {
				if !ended(p.Pod) {
					podList{p}.wait("ImagePullBackOff", "Back-off pulling image")
				}
			}
			s.startController()
			j.becomes(exactly("failed=1 " + failedPods))
			j.ended(1)
		},
	},
}
