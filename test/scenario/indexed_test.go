package scenario_test

import (
	"strconv"
	"strings"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// indexedScenarios are about pods with an index.
var indexedScenarios = []scenario{
	{
		name: "a pod has its index in name, host name, label, annotation and variable",
		play: tellsIndexes,
	},
	{
		name: "a long Job name is cut in pod names, the index never is",
		play: func(s *scene) {
			long := strings.Repeat("n", 61)
			j := s.create(aJob(named(long), indexed(1, 1)))
			p := j.active(1)[0]
			s.same("generateName", strings.Repeat("n", 55)+"-0-", p.GenerateName)
			s.same("host name", long+"-0", p.Spec.Hostname)
		},
	},
	{
		name: "pods without an index have the longest name that fits, and no host name",
		play: func(s *scene) {
			long := strings.Repeat("n", 63)
			p := s.create(aJob(named(long))).active(1)[0]
			s.same("generateName", long+"-", p.GenerateName)
			s.same("length of the name", 63, len(p.Name))
			s.same("host name", "", p.Spec.Hostname)
		},
	},
	{
		name: "completedIndexes are intervals, two neighbours are listed one by one",
		play: func(s *scene) {
			j := s.create(aJob(indexed(8, 8)))
			steps := []string{"1", "1,2", "1-3", "1-3,5", "1-3,5,6", "1-3,5-7", "0-3,5-7", "0-7"}
			for n, i := range []int{1, 2, 3, 5, 6, 7, 0, 4} {
				j.active(8 - n).withIndex(i).succeed()
				j.becomes(completedIndexes(steps[n]), succeeded(int32(n+1)))
			}
			j.becomes(exactly("succeeded=8 completed=0-7 " + allDone))
		},
	},
	{
		name: "the lowest index that has no pod is next, also after a failure",
		play: func(s *scene) {
			j := s.create(aJob(indexed(5, 2)))
			first := j.active(2)
			first.haveIndexes(0, 1)
			first.withIndex(1).succeed()
			j.becomes(exactly("active=2 succeeded=1 completed=1"))
			j.active(2).haveIndexes(0, 2)
			j.active(2).withIndex(0).failLongAgo(1)
			j.becomes(exactly("active=2 succeeded=1 failed=1 completed=1"))
			j.active(2).haveIndexes(0, 2)
			j.update(workers(4))
			j.becomes(exactly("active=4 succeeded=1 failed=1 completed=1"))
			j.active(4).haveIndexes(0, 2, 3, 4)
		},
	},
	{
		name: "of two pods with the same index, the one that loses less goes",
		play: func(s *scene) {
			j := s.create(aJob(indexed(2, 2)))
			j.active(2).run()
			j.becomes(exactly("active=2 ready=2"))
			j.addPod("duplicate", "1").gone()
			s.settle()
			j.becomes(exactly("active=2 ready=2"))
			j.tells("SuccessfulCreate", "SuccessfulDelete: Deleted pod: duplicate")
		},
	},
	{
		name: "pods without an index, and with one that the Job does not have, are removed",
		play: func(s *scene) {
			j := s.create(aJob(indexed(2, 2)))
			j.active(2).run()
			j.addPod("no-index", "").gone()
			j.addPod("too-high", "2").gone()
			j.addPod("no-number", "one").gone()
			s.settle()
			j.becomes(exactly("active=2 ready=2"))
		},
	},
	{
		name: "a pod with an index that the Job does not have counts for nothing, however it ends",
		play: func(s *scene) {
			j := s.create(aJob(indexed(2, 2), backoffLimit(0)))
			j.active(2).run()
			j.becomes(exactly("active=2 ready=2"))
			strays := append(j.addBound("low", ""), j.addBound("high", "7")...)
			j.becomes(exactly("active=2 ready=2 terminating=2"))
			strays[:1].fail(1)
			strays[1:].succeed()
			strays.gone()
			s.settle()
			j.becomes(exactly("active=2 ready=2"))
		},
	},
	{
		name: "an index that has succeeded gets no second pod when its pod is deleted",
		play: func(s *scene) {
			j := s.create(aJob(indexed(2, 2)))
			j.active(2)[:1].succeed()
			j.becomes(exactly("active=1 succeeded=1 completed=0"))
			j.ended(1).delete()
			j.stays(exactly("active=1 succeeded=1 completed=0"))
		},
	},
}

func tellsIndexes(s *scene) {
	j := s.create(aJob(indexed(2, 2), func(j *batchv1.Job) {
		spec := &j.Spec.Template.Spec
		spec.InitContainers = []corev1.Container{{Name: "init", Image: "scripted"}}
		own := corev1.Container{Name: "own", Image: "scripted", Env: []corev1.EnvVar{{Name: "JOB_COMPLETION_INDEX", Value: "mine"}}}
		spec.Containers = append(spec.Containers, own)
	}))
	for i, p := range j.active(2) {
		index := strconv.Itoa(i)
		s.same("generateName", "job-"+index+"-", p.GenerateName)
		s.same("length of the name", len("job-0-")+5, len(p.Name))
		s.same("host name", "job-"+index, p.Spec.Hostname)
		s.same("annotations", map[string]string{batchv1.JobCompletionIndexAnnotation: index}, p.Annotations)
		s.same("labels", map[string]string{
			batchv1.JobCompletionIndexAnnotation: index,
			batchv1.JobNameLabel:                 "job", "job-name": "job",
			batchv1.ControllerUidLabel: string(j.uid), "controller-uid": string(j.uid),
		}, p.Labels)
		s.same("finalizers", []string{batchv1.JobTrackingFinalizer}, p.Finalizers)
		s.same("owners", []metav1.OwnerReference{{
			APIVersion: "batch/v1", Kind: "Job", Name: "job", UID: j.uid, Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true),
		}}, p.OwnerReferences)
		told := []corev1.EnvVar{{Name: "JOB_COMPLETION_INDEX", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{
			APIVersion: "v1", FieldPath: "metadata.labels['batch.kubernetes.io/job-completion-index']",
		}}}}
		s.same("environment of the init container", told, p.Spec.InitContainers[0].Env)
		s.same("environment of the main container", told, p.Spec.Containers[0].Env)
		s.same("environment of one's own", []corev1.EnvVar{{Name: "JOB_COMPLETION_INDEX", Value: "mine"}}, p.Spec.Containers[1].Env)
	}
}

// same compares two values.
func (s *scene) same(what string, want, got any) {
	s.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		s.Errorf("%s (- want, + got):\n%s", what, diff)
	}
}

// addPod creates a pod without a controller that the Job's selector matches.
func (j *job) addPod(name, index string) podList {
	j.Helper()
	return j.addPodWith(name, index, func(*corev1.Pod) {})
}

// addBound is addPod for a pod that is on the node, and so is not gone as soon as it is deleted.
func (j *job) addBound(name, index string) podList {
	j.Helper()
	return j.addPodWith(name, index, func(p *corev1.Pod) { p.Spec.NodeName = nodeName })
}

func (j *job) addPodWith(name, index string, change func(*corev1.Pod)) podList {
	j.Helper()
	template := j.now().Spec.Template.DeepCopy()
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: template.Labels}, Spec: template.Spec}
	if index != "" {
		metav1.SetMetaDataAnnotation(&p.ObjectMeta, batchv1.JobCompletionIndexAnnotation, index)
	}
	change(p)
	created, err := j.api.CoreV1().Pods(j.namespace).Create(j.Context(), p, metav1.CreateOptions{})
	j.must(err)
	j.sees(created)
	return podList{{created, j.scene}}
}
