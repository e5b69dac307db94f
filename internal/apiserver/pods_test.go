package apiserver_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/node/logs"
)

func TestABindingAssignsAPodOnce(t *testing.T) {
	r := start(t)
	ctx := t.Context()
	pods := r.clientset(t).CoreV1().Pods("default")
	must[*corev1.Pod](t)(pods.Create(ctx, pod("a"), metav1.CreateOptions{}))
	binding := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Target: corev1.ObjectReference{Kind: "Node", Name: "n"}}
	if err := pods.Bind(ctx, binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	bound := must[*corev1.Pod](t)(pods.Get(ctx, "a", metav1.GetOptions{}))
	if bound.Spec.NodeName != "n" || condition(bound, corev1.PodScheduled) == nil {
		t.Errorf("node %q, conditions %v", bound.Spec.NodeName, bound.Status.Conditions)
	}
	if err := pods.Bind(ctx, binding, metav1.CreateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("a second time: %v, want Conflict", err)
	}
	if err := pods.Bind(ctx, &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{}); !apierrors.IsInvalid(err) {
		t.Errorf("without a target: %v, want Invalid", err)
	}
}

func condition(p *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i, c := range p.Status.Conditions {
		if c.Type == kind {
			return &p.Status.Conditions[i]
		}
	}
	return nil
}

func TestAPodOnANodeIsDeletedWithGrace(t *testing.T) {
	r := start(t)
	ctx := t.Context()
	pods := r.clientset(t).CoreV1().Pods("default")
	placed := pod("placed")
	placed.Spec.NodeName = "n"
	for _, p := range []*corev1.Pod{placed, pod("waiting")} {
		must[*corev1.Pod](t)(pods.Create(ctx, p, metav1.CreateOptions{}))
		if err := pods.Delete(ctx, p.Name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := pods.Get(ctx, "waiting", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a pod without a node: %v, want NotFound", err)
	}
	dying := must[*corev1.Pod](t)(pods.Get(ctx, "placed", metav1.GetOptions{}))
	if dying.DeletionGracePeriodSeconds == nil || *dying.DeletionGracePeriodSeconds != 30 {
		t.Errorf("grace %v, want 30", dying.DeletionGracePeriodSeconds)
	}
	if err := pods.Delete(ctx, "placed", metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}); err != nil {
		t.Fatal(err)
	}
	if _, err := pods.Get(ctx, "placed", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("after a deletion without grace: %v, want NotFound", err)
	}
}

func TestAnEvictionDeletesAndSaysWhy(t *testing.T) {
	r := start(t)
	ctx := t.Context()
	pods := r.clientset(t).CoreV1().Pods("default")
	p := pod("a")
	p.Spec.NodeName = "n"
	must[*corev1.Pod](t)(pods.Create(ctx, p, metav1.CreateOptions{}))
	if err := pods.EvictV1(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "default"}}); err != nil {
		t.Fatal(err)
	}
	evicted := must[*corev1.Pod](t)(pods.Get(ctx, "a", metav1.GetOptions{}))
	c := condition(evicted, corev1.DisruptionTarget)
	if evicted.DeletionTimestamp == nil || c == nil || c.Reason != "EvictionByEvictionAPI" {
		t.Errorf("deletion %v, condition %v", evicted.DeletionTimestamp, c)
	}
	if err := pods.EvictV1(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "b", Namespace: "default"}}); !apierrors.IsNotFound(err) {
		t.Errorf("a pod that is not there: %v, want NotFound", err)
	}
}

// echo is a LogSource whose logs are the requested options.
type echo struct{}

func (echo) PodLogs(_ context.Context, p *corev1.Pod, o *corev1.PodLogOptions) (io.ReadCloser, error) {
	tail := int64(-1)
	if o.TailLines != nil {
		tail = *o.TailLines
	}
	return io.NopCloser(strings.NewReader(fmt.Sprintf("%s/%s tail=%d previous=%v", p.Name, o.Container, tail, o.Previous))), nil
}

func (echo) AttemptLogs(_ context.Context, _ string, of *stintv1.PodResult, attempt int32, o *corev1.PodLogOptions) (io.ReadCloser, error) {
	if of.Pod == "lost-pod" {
		return nil, logs.GoneError("it was not kept")
	}
	return io.NopCloser(strings.NewReader(fmt.Sprintf("%s/%s attempt=%d", of.Pod, o.Container, attempt))), nil
}

func (echo) Incomplete(_ string, of *stintv1.PodResult) string {
	if of.Pod == "gone" {
		return "the logs of pod gone are incomplete"
	}
	return ""
}

func TestLogsAreAskedOfTheNode(t *testing.T) {
	r := startIn(t, t.TempDir(), echo{})
	ctx := t.Context()
	pods := r.clientset(t).CoreV1().Pods("default")
	two := pod("two")
	two.Spec.Containers = append(two.Spec.Containers, corev1.Container{Name: "d", Image: "i", Command: []string{"true"}})
	for _, p := range []*corev1.Pod{pod("one"), two} {
		must[*corev1.Pod](t)(pods.Create(ctx, p, metav1.CreateOptions{}))
	}
	cases := map[string]struct {
		pod     string
		options corev1.PodLogOptions
		want    string
		refused func(error) bool
	}{
		"the only container needs no name": {pod: "one", want: "one/c tail=-1 previous=false"},
		"options reach the node":           {pod: "one", options: corev1.PodLogOptions{Container: "c", TailLines: new(int64(3)), Previous: true}, want: "one/c tail=3 previous=true"},
		"of two containers one is named":   {pod: "two", options: corev1.PodLogOptions{Container: "d"}, want: "two/d tail=-1 previous=false"},
		"of two containers none is named":  {pod: "two", refused: apierrors.IsBadRequest},
		"an unknown container":             {pod: "one", options: corev1.PodLogOptions{Container: "x"}, refused: apierrors.IsBadRequest},
		"an unknown pod":                   {pod: "none", refused: apierrors.IsNotFound},
		"a negative tail":                  {pod: "one", options: corev1.PodLogOptions{TailLines: new(int64(-1))}, refused: apierrors.IsInvalid},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := pods.GetLogs(c.pod, &c.options).DoRaw(ctx)
			if c.refused != nil {
				if !c.refused(err) {
					t.Errorf("got %q, %v", got, err)
				}
				return
			}
			if err != nil || string(got) != c.want {
				t.Errorf("got %q, %v; want %q", got, err, c.want)
			}
		})
	}
}

func TestWithoutANodePodsCannotBeEntered(t *testing.T) {
	r := start(t)
	must[*corev1.Pod](t)(r.clientset(t).CoreV1().Pods("default").Create(t.Context(), pod("a"), metav1.CreateOptions{}))
	for _, sub := range []string{"exec", "attach", "portforward"} {
		err := r.clientset(t).CoreV1().RESTClient().Post().Namespace("default").Resource("pods").Name("a").SubResource(sub).
			VersionedParams(&corev1.PodExecOptions{Command: []string{"ls"}}, scheme.ParameterCodec).Do(t.Context()).Error()
		if err == nil || !strings.Contains(err.Error(), "this server has no node that runs pods") {
			t.Errorf("%s: %v", sub, err)
		}
	}
}

// If the index could change while the pod runs, the Job would count an index that has not been processed.
func TestTheIndexOfAPodOfAJobDoesNotChange(t *testing.T) {
	r := start(t)
	ctx := t.Context()
	pods := r.clientset(t).CoreV1().Pods("default")
	const key = batchv1.JobCompletionIndexAnnotation
	of := func(name, kind string) *corev1.Pod {
		p := pod(name)
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: kind, Name: "j", UID: "u", Controller: new(true)}}
		p.Annotations, p.Labels = map[string]string{key: "1"}, map[string]string{key: "1"}
		return must[*corev1.Pod](t)(pods.Create(ctx, p, metav1.CreateOptions{}))
	}
	of("indexed", "Job")
	of("another", "Set")
	for name, patch := range map[string]string{
		"an annotation changes": `{"metadata":{"annotations":{"` + key + `":"0"}}}`,
		"an annotation goes":    `{"metadata":{"annotations":{"` + key + `":null}}}`,
		"a label changes":       `{"metadata":{"labels":{"` + key + `":"0"}}}`,
		"a label goes":          `{"metadata":{"labels":{"` + key + `":null}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			for _, subresources := range [][]string{nil, {"status"}} {
				_, err := pods.Patch(ctx, "indexed", types.MergePatchType, []byte(patch), metav1.PatchOptions{}, subresources...)
				if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), key) {
					t.Errorf("%v: %v, want Invalid", subresources, err)
				}
			}
			if _, err := pods.Patch(ctx, "another", types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
				t.Errorf("a pod of no Job: %v", err)
			}
		})
	}
	free := `{"metadata":{"annotations":{"a":"b"},"labels":{"c":"d"}}}`
	if _, err := pods.Patch(ctx, "indexed", types.MergePatchType, []byte(free), metav1.PatchOptions{}); err != nil {
		t.Error(err)
	}
}
