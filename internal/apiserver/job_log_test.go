package apiserver_test

import (
	"fmt"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// ran creates a pod of the Job and sets its status to failed, as the node would.
func (r *running) ran(t *testing.T, j *batchv1.Job, name, index string, restarts int32) {
	t.Helper()
	p := pod(name)
	p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(j, batchv1.SchemeGroupVersion.WithKind("Job"))}
	if index != "" {
		p.Annotations = map[string]string{batchv1.JobCompletionIndexAnnotation: index}
	}
	p.Labels = j.Spec.Template.Labels
	pods := r.clientset(t).CoreV1().Pods("default")
	p = must[*corev1.Pod](t)(pods.Create(t.Context(), p, metav1.CreateOptions{}))
	began := metav1.Unix(1_700_000_000+int64(len(name)), 0) // pods with longer names start later
	p.Status = corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{{
		Name: "c", RestartCount: restarts,
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, StartedAt: began, FinishedAt: began}},
	}}}
	must[*corev1.Pod](t)(pods.UpdateStatus(t.Context(), p, metav1.UpdateOptions{}))
}

func TestLogsOfAttempts(t *testing.T) {
	r := startIn(t, t.TempDir(), echo{})
	jobs := r.clientset(t).BatchV1().Jobs("default")
	create := func(name string, change func(*batchv1.Job)) *batchv1.Job {
		j := job(name)
		j.Spec.Suspend = ptr.To(true)
		j.Spec.Template.Spec.Containers[0].Name = "c"
		change(j)
		return must[*batchv1.Job](t)(jobs.Create(t.Context(), j, metav1.CreateOptions{}))
	}
	array := create("array", func(j *batchv1.Job) {
		j.Spec.CompletionMode, j.Spec.Completions = ptr.To(batchv1.IndexedCompletion), ptr.To[int32](5)
		j.Spec.Template.Annotations = map[string]string{"kubectl.kubernetes.io/default-container": "d"}
		j.Spec.Template.Spec.Containers = append(j.Spec.Template.Spec.Containers, *j.Spec.Template.Spec.Containers[0].DeepCopy())
		j.Spec.Template.Spec.Containers[1].Name = "d"
	})
	r.ran(t, array, "array-0-a", "0", 0)
	r.ran(t, array, "array-1-a", "1", 2)
	one := create("one", func(*batchv1.Job) {})
	r.ran(t, one, "one-a", "", 1)
	r.ran(t, one, "lost-pod", "", 1)
	wide := create("wide", func(j *batchv1.Job) { j.Spec.Parallelism = ptr.To[int32](2) })
	r.ran(t, wide, "wide-a", "", 1)
	r.ran(t, wide, "wide-b", "", 0)
	create("fresh", func(*batchv1.Job) {})
	for sentence, c := range map[string]struct {
		path string
		want string
		code int32
	}{
		"of an index, the last attempt":       {path: "array/log?index=1&container=c", want: "array-1-a/c tail=-1 previous=false"},
		"an earlier start of the same pod":    {path: "array/log?index=1&attempt=2&container=c", want: "array-1-a/c attempt=1"},
		"the one before the last":             {path: "array/log?index=1&previous=true&container=c", want: "array-1-a/c attempt=1"},
		"options reach the node":              {path: "array/log?index=0&tailLines=3&container=c", want: "array-0-a/c tail=3 previous=false"},
		"a container that is the default":     {path: "array/log?index=1&attempt=1", want: "array-1-a/d attempt=0"},
		"no such attempt":                     {path: "array/log?index=1&attempt=4", want: "there is no attempt 4: index 1 has 3 attempts", code: 404},
		"no attempt at all":                   {path: "array/log?index=1&attempt=0", want: "there is no attempt 0: index 1 has 3 attempts", code: 404},
		"one attempt":                         {path: "array/log?index=0&attempt=2", want: "there is no attempt 2: index 0 has 1 attempt", code: 404},
		"none before the first":               {path: "array/log?index=0&previous=1", want: "there is no attempt at index 0 before the first", code: 404},
		"no such index":                       {path: "array/log?index=5", want: "there is no index 5: job array has indexes 0 to 4", code: 404},
		"an index that has not begun":         {path: "array/log?index=3", want: "index 3 has not been started yet", code: 404},
		"an index that is no number":          {path: "array/log?index=x", want: "query parameter index", code: 400},
		"no index where there are many":       {path: "array/log", want: "job array has 5 indexes: choose one by its index", code: 404},
		"an index where there are none":       {path: "one/log?index=0", want: "job one has no indexes", code: 404},
		"attempts over pods that take turns":  {path: "one/log?attempt=1", want: "one-a/c attempt=0"},
		"an attempt whose log is gone":        {path: "one/log?attempt=3", want: "the log of attempt 3 at job one (pod lost-pod) is gone: it was not kept", code: 410},
		"pods side by side":                   {path: "wide/log", want: "job wide has run 2 pods: choose one by its name", code: 404},
		"a pod by name":                       {path: "wide/log?pod=wide-a&attempt=1", want: "wide-a/c attempt=0"},
		"a pod of another Job":                {path: "wide/log?pod=one-a", want: "job wide has no pod one-a", code: 404},
		"a Job that has not begun":            {path: "fresh/log", want: "job fresh has not been started yet", code: 404},
		"a container that is not there":       {path: "one/log?container=x", want: "the pods of job one have no container x: choose from c", code: 400},
		"a Job that is not there":             {path: "none/log", want: "not found", code: 404},
		"what pods/log would not take either": {path: "one/log?tailLines=-1", want: "tailLines", code: 422},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := r.clientset(t).BatchV1().RESTClient().Get().RequestURI("/apis/batch/v1/namespaces/default/jobs/" + c.path).DoRaw(t.Context())
			status, refused := err.(apierrors.APIStatus) //nolint:errorlint // the client returns just this
			switch {
			case c.code == 0:
				if err != nil || string(got) != c.want {
					t.Errorf("got %q, %v; want %q", got, err, c.want)
				}
			case !refused || status.Status().Code != c.code || !strings.Contains(fmt.Sprint(err, string(got)), c.want):
				t.Errorf("got %q, %v; want %d, %q", got, err, c.code, c.want)
			}
		})
	}
}
