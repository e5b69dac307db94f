package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/results"
	"github.com/stint-dev/stint/test/kube"
	"github.com/stint-dev/stint/test/wrappers"
)

// A cluster does not serve …/results and …/log. No controller runs here: the test creates slices and pods itself.
func TestClusterResults(t *testing.T) {
	c := kube.ForTest(t, kube.Options{})
	clientset := kubernetes.NewForConfigOrDie(c.Config())
	job := createJob(t, clientset)
	pod := createPod(t, clientset, job, "array-1-there")
	show := func(o Options) (out, note string, err error) {
		var stdout, stderr bytes.Buffer
		o.Now, o.Out, o.ErrOut = time.Now(), &stdout, &stderr
		err = Show(t.Context(), c.Config(), "default", o)
		return stdout.String(), stderr.String(), err
	}
	out, note, err := show(Options{Job: "array"})
	if err != nil || !strings.Contains(out, "\n1       Running") || !strings.Contains(note, "only existing pods are listed") {
		t.Errorf("from pods alone: %q, %q, %v", out, note, err)
	}
	if _, _, err := show(Options{Job: "aray"}); !errors.As(err, new(InputError)) || !strings.Contains(err.Error(), "did you mean array?") {
		t.Errorf("another name: %v", err)
	}
	if err := c.InstallCRD(t.Context(), "../../../deploy/crds/stint.dev_resultslices.yaml"); err != nil {
		t.Fatal(err)
	}
	createSlice(t, clientset, job)
	out, note, err = show(Options{Job: "job/array", Format: "wide"})
	if err != nil || note != "" || strings.Count(out, "\n") != 4 || !strings.Contains(out, "array-1-gone") || !strings.Contains(out, "143 (TERM)") {
		t.Errorf("from what the controller has stored: %q, %q, %v", out, note, err)
	}
	t.Run("logs", func(t *testing.T) { choosesLogs(t, c.Config(), job, pod) })
}

func choosesLogs(t *testing.T, config *rest.Config, job *batchv1.Job, pod *corev1.Pod) {
	client, err := Connect(config, "default")
	if err != nil {
		t.Fatal(err)
	}
	one := ptr.To[int64](1)
	for sentence, c := range map[string]struct {
		choice results.AttemptQuery
		want   string
		refuse string
	}{
		"the last start of a pod that is there":    {choice: results.AttemptQuery{Index: one}, want: "/pods/" + pod.Name + "/log?container=main"},
		"the start before":                         {choice: results.AttemptQuery{Index: one, Previous: true}, want: "/log?container=main&previous=true"},
		"a start that no cluster keeps the log of": {choice: results.AttemptQuery{Index: one, Attempt: ptr.To[int64](2)}, refuse: "last two starts"},
		"a pod that is gone":                       {choice: results.AttemptQuery{Index: one, Attempt: one}, refuse: "a cluster does not keep logs of deleted pods"},
		"too many attempts":                        {choice: results.AttemptQuery{Index: one, Attempt: ptr.To[int64](9)}, refuse: "index 1 has 4 attempts"},
	} {
		t.Run(sentence, func(t *testing.T) {
			request, err := client.Log(t.Context(), job, c.choice, &corev1.PodLogOptions{})
			if c.refuse != "" {
				if err == nil || !strings.Contains(err.Error(), c.refuse) {
					t.Errorf("got %v, want %q", err, c.refuse)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if url := request.(*rest.Request).URL().String(); !strings.HasSuffix(url, c.want) {
				t.Errorf("asked %s, want …%s", url, c.want)
			}
		})
	}
}

func createJob(t *testing.T, c kubernetes.Interface) *batchv1.Job {
	t.Helper()
	array := wrappers.MakeJob("array").Indexed().Completions(2).RestartPolicy(corev1.RestartPolicyOnFailure).Containers("main").Image("none").Obj()
	job, err := c.BatchV1().Jobs("default").Create(t.Context(), array, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return job
}

func owned(job *batchv1.Job) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Labels:          map[string]string{batchv1.JobNameLabel: job.Name, batchv1.ControllerUidLabel: string(job.UID)},
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))},
	}
}

// createPod creates a running pod of index 1 with two restarts.
func createPod(t *testing.T, c kubernetes.Interface, job *batchv1.Job, name string) *corev1.Pod {
	t.Helper()
	pod, err := c.CoreV1().Pods("default").Create(t.Context(), wrappers.MakePodOf(job, name).Index(1).Obj(), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{
		Name: "main", RestartCount: 2, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}},
	}}}
	if pod, err = c.CoreV1().Pods("default").UpdateStatus(t.Context(), pod, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	return pod
}

func createSlice(t *testing.T, c kubernetes.Interface, job *batchv1.Job) {
	t.Helper()
	began, ended := metav1.Unix(1_700_000_000, 0), metav1.Unix(1_700_000_060, 0)
	slice := &stintv1.ResultSlice{ObjectMeta: owned(job)}
	slice.APIVersion, slice.Kind, slice.Name = stintv1.SchemeGroupVersion.String(), "ResultSlice", "array-0"
	for i := range int32(2) {
		slice.Results = append(slice.Results, stintv1.PodResult{
			Pod: fmt.Sprintf("array-%d-gone", i), UID: types.UID(fmt.Sprint("uid-", i)), Index: &i,
			Phase: corev1.PodFailed, ExitCode: ptr.To[int32](143), Signal: 15, CreatedAt: &began, StartedAt: &began, FinishedAt: &ended,
		})
	}
	text, err := json.Marshal(slice)
	if err != nil {
		t.Fatal(err)
	}
	err = c.CoreV1().RESTClient().Post().AbsPath("/apis/stint.dev/v1/namespaces/default/resultslices").
		SetHeader("Content-Type", "application/json").Body(text).Do(t.Context()).Error()
	if err != nil {
		t.Fatal(err)
	}
}
