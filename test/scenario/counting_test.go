package scenario_test

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// otherFinalizer belongs to another controller, which wants to observe that pods are deleted.
const otherFinalizer = "example.com/witness"

// countingScenarios are about pods that are deleted, and controllers that are killed. Each pod counts exactly once all
// the same.
var countingScenarios = []scenario{
	{
		name: "a running pod that is force-deleted counts as failed and is replaced",
		play: func(s *scene) {
			j := s.create(aJob())
			lost := j.active(1).run()
			lost.forceDelete()
			lost.gone()
			j.becomes(failed(1), unfinished())
			j.active(1).succeed()
			j.becomes(succeeded(1), failed(1), complete())
		},
	},
	{
		name: "a pod that is deleted before it has a node counts as failed and is replaced",
		play: func(s *scene) {
			j := s.create(aJob())
			lost := j.active(1)
			lost.delete()
			lost.gone()
			j.becomes(failed(1))
			j.active(1).succeed()
			j.becomes(succeeded(1), failed(1), complete())
		},
	},
	{
		name: "a pod that is evicted counts as failed once, and is replaced while it ends",
		play: func(s *scene) {
			j := s.create(aJob())
			slow := j.active(1).run()
			slow.evict()
			j.becomes(failed(1), terminating(1))
			j.active(1)
			slow.fail(143)
			slow.gone()
			j.stays(failed(1), terminating(0), active(1))
			j.active(1).succeed()
			j.becomes(succeeded(1), failed(1), complete())
		},
	},
	{
		name: "a pod whose node is lost counts as failed and is replaced",
		play: func(s *scene) {
			j := s.create(aJob(pods(2, 2)))
			lost := j.active(2).run()[:1]
			lost.loseNode()
			lost.gone()
			j.becomes(failed(1))
			j.active(2).succeed()
			j.becomes(succeeded(2), failed(1), complete())
		},
	},
	{
		name: "a node that is lost while a pod ends slowly does not count the pod twice",
		play: func(s *scene) {
			j := s.create(aJob())
			lost := j.active(1).run()
			lost.delete()
			j.becomes(failed(1), terminating(1))
			lost.loseNode()
			lost.gone()
			j.active(1)
			j.stays(failed(1), terminating(0), active(1))
			j.active(1).succeed()
			j.becomes(succeeded(1), failed(1), complete())
		},
	},
	{
		name:     "pods that end, and are deleted, while the controller is away are counted when it is back",
		restarts: true,
		play: func(s *scene) {
			j := s.create(aJob(pods(20, 20)))
			all := j.active(20).run()
			s.stopController()
			all[:8].succeed()
			all[8:12].failLongAgo(1)
			all[:4].forceDelete()
			all[8:10].delete()
			all[12:14].forceDelete()
			s.startController()
			j.becomes(succeeded(8), failed(6), active(12))
			all[:4].gone()
			all[12:14].gone()
			j.active(12).succeed()
			j.becomes(succeeded(20), failed(6), complete())
		},
	},
	{
		name:     "a controller that is killed again and again counts every pod once",
		restarts: true,
		play: func(s *scene) {
			j := s.create(aJob(pods(12, 4)))
			for range 3 {
				j.active(4).succeed()
				s.restartController()
			}
			j.becomes(succeeded(12), failed(0), complete())
		},
	},
	{
		name:     "an indexed Job keeps its indexes apart over a restart",
		restarts: true,
		play: func(s *scene) {
			j := s.create(aJob(indexed(6, 3)))
			all := j.active(3).run()
			s.stopController()
			all[1:].succeed()
			all[1:2].forceDelete()
			s.startController()
			j.becomes(completedIndexes("1,2"), succeeded(2), failed(0))
			j.active(3).haveIndexes(0, 3, 4)
			j.active(3).succeed()
			j.becomes(completedIndexes("0-4"))
			j.active(1).succeed()
			j.becomes(completedIndexes("0-5"), succeeded(6), failed(0), complete())
		},
	},
	{
		name:     "a Job with FailureTarget before a restart fails after it",
		restarts: true,
		play: func(s *scene) {
			j := s.create(aJob(pods(2, 2), backoffLimit(0)))
			j.active(2).run()[:1].fail(1)
			j.becomes(willFailBecause(batchv1.JobReasonBackoffLimitExceeded), terminating(1))
			slow := j.terminating(1)
			s.stopController()
			slow.fail(143)
			s.startController()
			slow.gone()
			j.becomes(failed(2), terminating(0), failedBecause(batchv1.JobReasonBackoffLimitExceeded))
		},
	},
	{
		name: "of more pods than a Job may list at once, each counts once",
		play: func(s *scene) {
			j := s.create(aJob(pods(mostListed+60, mostListed+60)))
			all := j.active(mostListed + 60)
			j.becomes(active(mostListed + 60))
			s.stopController()
			before := j.storedVersion()
			all.succeed()
			s.startController()
			j.becomes(succeeded(mostListed+60), failed(0), complete())
			j.wasWrittenAtMost(10, before)
			j.ended(mostListed + 60)
		},
		restarts: true,
	},
	{
		name: "another controller's finalizer on a pod delays the pod, not the Job",
		play: func(s *scene) {
			j := s.create(aJob())
			held := j.active(1)
			held.each(func(p pod) error { return p.finalize(batchv1.JobTrackingFinalizer, otherFinalizer) })
			held.succeed()
			j.becomes(succeeded(1), complete())
			held.delete()
			held.become("without the Job's finalizer and with the other one", func(p *corev1.Pod) bool {
				return slices.Equal(p.Finalizers, []string{otherFinalizer})
			})
			held.each(func(p pod) error { return p.finalize() })
			held.gone()
		},
	},
	{
		name: "a pod whose tracking finalizer a user removes does not count, and is replaced when it is gone",
		play: func(s *scene) {
			j := s.create(aJob())
			stolen := j.active(1).run()
			stolen.each(func(p pod) error { return p.finalize() })
			stolen.forceDelete()
			stolen.gone()
			j.active(1)
			j.stays(failed(0), succeeded(0), active(1))
			j.active(1).succeed()
			j.becomes(succeeded(1), failed(0), complete())
		},
	},
	{
		name: "a pod that ended and was deleted at once counts by how it ended",
		play: func(s *scene) {
			j := s.create(aJob(pods(3, 1)))
			for range 3 {
				p := j.active(1)
				p.succeed()
				p.forceDelete()
				p.gone()
			}
			j.becomes(succeeded(3), failed(0), complete())
		},
	},
}

// finalize gives the pod these finalizers, and no others.
func (p pod) finalize(finalizers ...string) error {
	return ignoreGone(p.update(func(o *corev1.Pod) { o.Finalizers = finalizers }))
}

// orphan makes a pod without a controller.
func (s *scene) orphan(name string, labels map[string]string) podList {
	s.Helper()
	template := aJob().Spec.Template
	made, err := s.api.CoreV1().Pods(s.namespace).Create(s.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Spec: template.Spec,
	}, metav1.CreateOptions{})
	s.must(err)
	s.sees(made)
	return podList{{made, s}}
}
