package scenario_test

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// crew is a label for Jobs with a selector of their own.
func crew(name string) map[string]string { return map[string]string{"crew": name} }

// choosing sets a selector on the label crew.
func choosing(name string) func(*batchv1.Job) {
	return func(j *batchv1.Job) {
		j.Spec.ManualSelector = ptr.To(true)
		j.Spec.Selector = &metav1.LabelSelector{MatchLabels: crew(name)}
		j.Spec.Template.Labels = crew(name)
	}
}

// claimScenarios are about which pods belong to a Job.
var claimScenarios = []scenario{
	{
		name: "a pod without an owner that matches is adopted and counts",
		play: func(s *scene) {
			found := s.orphan("found", crew("a"))
			s.settle()
			j := s.create(aJob(pods(2, 2), choosing("a")))
			j.owns(found)
			j.active(2)
			j.becomes(active(2))
			j.active(2).succeed()
			j.becomes(succeeded(2), complete())
			j.ended(2)
		},
	},
	{
		name: "an adopted pod that has succeeded already counts as a success",
		play: func(s *scene) {
			found := s.orphan("found", crew("a"))
			found.succeed()
			s.settle()
			j := s.create(aJob(choosing("a")))
			j.becomes(succeeded(1), failed(0), complete())
			j.owns(found)
		},
	},
	{
		name: "an adopted pod that has failed already counts as a failure",
		play: func(s *scene) {
			s.orphan("found", crew("a")).failLongAgo(1)
			s.settle()
			j := s.create(aJob(choosing("a")))
			j.becomes(failed(1), active(1))
			j.active(1).succeed()
			j.becomes(succeeded(1), failed(1), complete())
		},
	},
	{
		name: "more pods than wanted, because some were adopted, are removed",
		play: func(s *scene) {
			j := s.create(aJob(choosing("a")))
			own := j.active(1).run()
			found := s.orphan("found", crew("a"))
			found.gone()
			j.active(1).areThe(own)
			j.stays(active(1), failed(0))
			own.succeed()
			j.becomes(succeeded(1), failed(0), complete())
			j.tells("SuccessfulCreate", "SuccessfulDelete", "Completed")
		},
	},
	{
		name: "more successes than completions are reported in an event",
		play: func(s *scene) {
			s.orphan("one", crew("a")).succeed()
			s.orphan("two", crew("a")).succeed()
			s.settle()
			j := s.create(aJob(choosing("a")))
			j.becomes(succeeded(2), complete())
			j.tellsOf("TooManySucceededPods")
		},
	},
	{
		name: "a pod that stops matching is released, unharmed, and replaced",
		play: func(s *scene) {
			j := s.create(aJob(choosing("a")))
			lost := j.active(1).run()
			lost.relabel(crew("b"))
			lost.become("orphaned and untracked", func(p *corev1.Pod) bool {
				return metav1.GetControllerOf(p) == nil && !hasFinalizer(p) && p.DeletionTimestamp == nil
			})
			j.active(1).areNot(lost)
			j.stays(active(1), failed(0))
			j.active(1).succeed()
			j.becomes(succeeded(1), failed(0), complete())
		},
	},
	{
		name: "a pod that another object controls is not adopted",
		play: func(s *scene) {
			other := s.orphan("other", crew("a"))
			owner := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "boss", UID: s.configMap("boss"), Controller: ptr.To(true)}
			other.each(func(p pod) error {
				return p.update(func(o *corev1.Pod) {
					o.Labels, o.OwnerReferences = map[string]string{"crew": "c"}, []metav1.OwnerReference{owner}
				})
			})
			s.settle()
			j := s.create(aJob(choosing("c")))
			j.active(1).areNot(other)
			j.stays(active(1))
			other.become("the other's", func(p *corev1.Pod) bool { return ownedBy(p, owner.UID) && !hasFinalizer(p) })
			j.active(1).succeed()
			j.becomes(succeeded(1), complete())
		},
	},
	{
		name: "a finished Job adopts no pod",
		play: func(s *scene) {
			j := s.create(aJob(choosing("a")))
			j.active(1).succeed()
			j.becomes(complete())
			late := s.orphan("late", crew("a"))
			j.stays(succeeded(1), complete())
			late.become("orphaned", func(p *corev1.Pod) bool { return metav1.GetControllerOf(p) == nil && !hasFinalizer(p) })
		},
	},
}

// owns waits until the Job controls and tracks the pods.
func (j *job) owns(l podList) {
	j.Helper()
	l.become("owned by Job "+j.name, func(p *corev1.Pod) bool { return ownedBy(p, j.uid) })
}

func (s *scene) configMap(name string) types.UID {
	s.Helper()
	made, err := s.api.CoreV1().ConfigMaps(s.namespace).Create(s.Context(),
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	s.must(err)
	return made.UID
}
