package scheduledjob

import (
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// Environment variables of a run's containers: how many pods the run has, and the index of this one.
const (
	envPodCount = "JOB_POD_COUNT"
	envPodIndex = "JOB_POD_INDEX"
)

// setPodIndexVariables puts the variables first in each container's env, so that the template's variables can refer to
// them. A variable of the template with the same name stays as it is.
func setPodIndexVariables(spec *corev1.PodSpec, count int32) {
	place := []corev1.EnvVar{
		{Name: envPodCount, Value: strconv.Itoa(int(count))},
		{Name: envPodIndex, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{
			FieldPath: "metadata.annotations['" + batchv1.JobCompletionIndexAnnotation + "']"}}},
	}
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			list[i].Env = prependMissing(place, list[i].Env)
		}
	}
}

func prependMissing(place, env []corev1.EnvVar) []corev1.EnvVar {
	var all []corev1.EnvVar
	for _, v := range place {
		if !slices.ContainsFunc(env, func(e corev1.EnvVar) bool { return e.Name == v.Name }) {
			all = append(all, *v.DeepCopy())
		}
	}
	return append(all, env...)
}
