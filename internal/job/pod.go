package job

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	indexVariable = "JOB_COMPLETION_INDEX"
	// maxNamePrefix is how much of generateName the API server keeps: 63 characters less the 5 that it adds.
	maxNamePrefix = 58
)

func newPods(v view, n int) []*corev1.Pod {
	pods := make([]*corev1.Pod, n)
	for i := range pods {
		pods[i] = podFromTemplate(v.job)
		pods[i].GenerateName = v.job.Name + "-"
	}
	return pods
}

func newIndexedPods(v view, indexes []int) []*corev1.Pod {
	pods := make([]*corev1.Pod, len(indexes))
	for n, i := range indexes {
		p := podFromTemplate(v.job)
		p.GenerateName = indexedNamePrefix(v.job.Name, i)
		p.Spec.Hostname = fmt.Sprintf("%s-%d", v.job.Name, i)
		// The annotation is the older form; the label is for selectors. Counting uses the hostname (IndexOf).
		p.Annotations[batchv1.JobCompletionIndexAnnotation] = strconv.Itoa(i)
		p.Labels[batchv1.JobCompletionIndexAnnotation] = strconv.Itoa(i)
		if perIndex(v.job) {
			countIndexFailures(v.job, p.Annotations, v.lastFailedByIndex[i])
		}
		setIndexVariable(p.Spec.InitContainers)
		setIndexVariable(p.Spec.Containers)
		pods[n] = p
	}
	return pods
}

func podFromTemplate(job *batchv1.Job) *corev1.Pod {
	t := job.Spec.Template.DeepCopy()
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       job.Namespace,
			Labels:          map[string]string{},
			Annotations:     map[string]string{},
			Finalizers:      slices.Clone(t.Finalizers),
			OwnerReferences: []metav1.OwnerReference{ControllerRef(job)},
		},
		Spec: t.Spec,
	}
	maps.Copy(p.Labels, t.Labels)
	maps.Copy(p.Annotations, t.Annotations)
	for _, key := range []string{RuntimeClass, PodMaxPIDs} {
		if value, ok := job.Annotations[key]; ok {
			p.Annotations[key] = value
		}
	}
	AddFinalizer(p)
	return p
}

// ControllerRef returns the owner reference of a pod that job controls.
func ControllerRef(job *batchv1.Job) metav1.OwnerReference {
	return *metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))
}

// AddFinalizer adds the tracking finalizer to p unless it is there.
func AddFinalizer(p *corev1.Pod) {
	if !HasFinalizer(p) {
		p.Finalizers = append(p.Finalizers, batchv1.JobTrackingFinalizer)
	}
}

// RemoveFinalizer removes the tracking finalizer from p.
func RemoveFinalizer(p *corev1.Pod) {
	p.Finalizers = slices.DeleteFunc(p.Finalizers, func(f string) bool { return f == batchv1.JobTrackingFinalizer })
}

// indexedNamePrefix shortens the Job's name where needed, never the index.
func indexedNamePrefix(name string, i int) string {
	suffix := fmt.Sprintf("-%d-", i)
	return name[:min(len(name), maxNamePrefix-len(suffix))] + suffix
}

// setIndexVariable adds the variable with the index to each container that does not set it itself.
func setIndexVariable(containers []corev1.Container) {
	for i := range containers {
		c := &containers[i]
		if slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == indexVariable }) {
			continue
		}
		c.Env = append(c.Env, corev1.EnvVar{Name: indexVariable, ValueFrom: &corev1.EnvVarSource{
			FieldRef: &corev1.ObjectFieldSelector{
				FieldPath: fmt.Sprintf("metadata.labels['%s']", batchv1.JobCompletionIndexAnnotation),
			},
		}})
	}
}
