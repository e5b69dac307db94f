package wrappers

import (
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PodWrapper builds a pod.
type PodWrapper struct {
	metadata[*PodWrapper]
	podSpec[*PodWrapper]
	pod *corev1.Pod
}

// MakePod begins a pod with one container, which is not restarted.
func MakePod(name string) *PodWrapper {
	return FromPod(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: runOnce()})
}

// MakePodOf begins a pod of a Job, as the Job's template describes it.
func MakePodOf(job *batchv1.Job, name string) *PodWrapper {
	template := job.Spec.Template.DeepCopy()
	meta := metav1.ObjectMeta{Name: name, Labels: template.Labels, Annotations: template.Annotations}
	return FromPod(&corev1.Pod{ObjectMeta: meta, Spec: template.Spec}).Controller(job)
}

// FromPod wraps a pod, which it changes in place.
func FromPod(pod *corev1.Pod) *PodWrapper {
	w := &PodWrapper{pod: pod}
	w.metadata = metadata[*PodWrapper]{w, &pod.ObjectMeta}
	w.podSpec = podSpec[*PodWrapper]{w, &pod.Spec}
	return w
}

// Obj is the pod.
func (w *PodWrapper) Obj() *corev1.Pod { return w.pod }

// With makes changes for which there is no method.
func (w *PodWrapper) With(changes ...func(*corev1.Pod)) *PodWrapper {
	for _, change := range changes {
		change(w.pod)
	}
	return w
}

// Controller makes the Job the controller of the pod, and puts the pod into the Job's namespace.
func (w *PodWrapper) Controller(job *batchv1.Job) *PodWrapper {
	ref := metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))
	return w.Namespace(job.Namespace).OwnerReferences(*ref)
}

// Index sets the completion index that an Indexed Job gives the pod.
func (w *PodWrapper) Index(i int) *PodWrapper {
	return w.Annotation(batchv1.JobCompletionIndexAnnotation, strconv.Itoa(i))
}

// IndexFailureCount sets how many pods of the index failed before.
func (w *PodWrapper) IndexFailureCount(n int) *PodWrapper {
	return w.Annotation(batchv1.JobIndexFailureCountAnnotation, strconv.Itoa(n))
}

// IndexIgnoredFailureCount sets how many pods of the index failed before and were ignored.
func (w *PodWrapper) IndexIgnoredFailureCount(n int) *PodWrapper {
	return w.Annotation(batchv1.JobIndexIgnoredFailureCountAnnotation, strconv.Itoa(n))
}

// Hostname sets spec.hostname.
func (w *PodWrapper) Hostname(name string) *PodWrapper {
	w.pod.Spec.Hostname = name
	return w
}
