package scenario_test

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// deletionScenarios are about Jobs that are deleted, and made again, at any moment.
var deletionScenarios = []scenario{
	{
		name: "deleted in the background mid-run, a Job goes at once and its pods when they have ended",
		play: func(s *scene) {
			j := s.create(aJob(pods(4, 2)))
			both := j.active(2).run()
			j.delete(metav1.DeletePropagationBackground)
			j.gone()
			both.become("deleted and untracked", func(p *corev1.Pod) bool { return p.DeletionTimestamp != nil && !hasFinalizer(p) })
			both.fail(143)
			both.gone()
			s.settle()
			j.podsThat("are left", 0, func(*corev1.Pod) bool { return true })
		},
	},
	{
		name: "deleted in the foreground mid-run, a Job goes after its pods, which are not replaced",
		play: func(s *scene) {
			j := s.create(aJob(pods(4, 2)))
			both := j.active(2).run()
			j.delete(metav1.DeletePropagationForeground)
			slow := j.terminating(2)
			slow[:1].fail(143)
			slow[:1].gone()
			s.settle()
			j.terminating(1).areThe(both[1:])
			slow[1:].succeed()
			j.gone()
			j.podsThat("are left", 0, func(*corev1.Pod) bool { return true })
		},
	},
	{
		name: "deleted with its pods orphaned mid-run, a Job leaves them running and untracked",
		play: func(s *scene) {
			j := s.create(aJob(pods(4, 2)))
			both := j.active(2).run()
			j.delete(metav1.DeletePropagationOrphan)
			j.gone()
			both.become("orphaned, untracked and running", func(p *corev1.Pod) bool {
				return len(p.OwnerReferences) == 0 && !hasFinalizer(p) && p.DeletionTimestamp == nil
			})
			both.succeed()
			s.settle()
			both.become("there", func(p *corev1.Pod) bool { return ended(p) })
		},
	},
	{
		name:     "a Job deleted while the controller is away leaves no finalizer on a pod",
		restarts: true,
		play: func(s *scene) {
			j := s.create(aJob(pods(3, 3)))
			all := j.active(3).run()
			s.stopController()
			all[:1].succeed()
			j.delete(metav1.DeletePropagationBackground)
			all[1:2].forceDelete()
			s.startController()
			j.gone()
			all[:2].gone()
			all[2:].become("deleted and untracked", func(p *corev1.Pod) bool { return p.DeletionTimestamp != nil && !hasFinalizer(p) })
			all[2:].fail(143)
			all.gone()
		},
	},
	{
		name: "a Job made again under the same name has nothing to do with the pods of the old one",
		play: func(s *scene) {
			old := s.create(aJob(pods(2, 2), backoffLimit(0)))
			slow := old.active(2).run()
			old.delete(metav1.DeletePropagationBackground)
			old.gone()
			slow.become("deleted", func(p *corev1.Pod) bool { return p.DeletionTimestamp != nil })
			j := s.create(aJob(pods(2, 2), backoffLimit(0)))
			fresh := j.active(2)
			j.becomes(active(2), terminating(0))
			slow.fail(143)
			slow.gone()
			j.stays(active(2), failed(0), unfinished())
			fresh.succeed()
			j.becomes(succeeded(2), failed(0), complete())
		},
	},
	{
		name: "a Job made again under the same name does not adopt the pods that the old one left",
		play: func(s *scene) {
			old := s.create(aJob())
			left := old.active(1).run()
			old.delete(metav1.DeletePropagationOrphan)
			old.gone()
			j := s.create(aJob())
			j.active(1).areNot(left)
			j.becomes(active(1), ready(0))
			left.succeed()
			j.stays(active(1), succeeded(0))
			j.active(1).succeed()
			j.becomes(succeeded(1), complete())
		},
	},
	{
		name: "a Job with a selector of its own, made again, adopts the pods that the old one left",
		play: func(s *scene) {
			old := s.create(aJob(choosing("a")))
			left := old.active(1).run()
			old.delete(metav1.DeletePropagationOrphan)
			old.gone()
			// Upstream keeps the expectations of a Job by name until it syncs that name once more. It has done so once
			// a Job that was created later has a pod.
			s.createNamed("later").active(1)
			j := s.create(aJob(choosing("a")))
			j.owns(left)
			j.becomes(active(1), ready(1))
			j.active(1).areThe(left)
			left.succeed()
			j.becomes(succeeded(1), complete())
			j.ended(1)
		},
	},
	{
		name:    "a Job made again and again under the same name ends like any other",
		differs: "upstream keeps expectations of a Job by name, so that a new one may wait five minutes for pods of the old",
		play: func(s *scene) {
			for range 10 {
				old := s.create(aJob(pods(3, 3)))
				old.delete(metav1.DeletePropagationBackground)
				old.gone()
			}
			j := s.create(aJob(pods(3, 3)))
			j.active(3).succeed()
			j.becomes(succeeded(3), failed(0), complete())
		},
	},
	{
		name: "a deleted Job with another controller's finalizer replaces no pods",
		play: func(s *scene) {
			j := s.create(aJob(pods(2, 2)))
			both := j.active(2).run()
			j.update(func(o *batchv1.Job) { o.Finalizers = append(o.Finalizers, otherFinalizer) })
			j.delete(metav1.DeletePropagationBackground)
			both.become("untracked", func(p *corev1.Pod) bool { return !hasFinalizer(p) })
			both[:1].fail(1)
			s.settle()
			j.active(1).areThe(both[1:])
			j.update(func(o *batchv1.Job) { o.Finalizers = nil })
			j.gone()
			both[1:].become("deleted", func(p *corev1.Pod) bool { return p.DeletionTimestamp != nil })
			both[1:].fail(143)
			both[1:].gone()
		},
	},
	{
		name: "a finished Job and its pods are deleted together",
		play: func(s *scene) {
			j := s.create(aJob())
			done := j.active(1)
			done.succeed()
			j.becomes(complete())
			done = j.ended(1)
			j.delete(metav1.DeletePropagationBackground)
			j.gone()
			done.gone()
		},
	},
}
