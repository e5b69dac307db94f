package apiserver_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/stint-dev/stint/internal/apiserver"
	"github.com/stint-dev/stint/internal/apiserver/apiservertest"
)

// startWithMemory starts a server that has no memory for new objects while full is set.
func startWithMemory(t *testing.T) (_ *apiservertest.Server, full *atomic.Bool) {
	t.Helper()
	full = &atomic.Bool{}
	return apiservertest.Start(t, func(c *apiserver.Config) {
		c.MemoryExceeded = func() error {
			if full.Load() {
				return errors.New("the memory is full")
			}
			return nil
		}
	}), full
}

func TestWithoutMemoryNewObjectsAreRefusedAndAllElseGoesOn(t *testing.T) {
	r, full := startWithMemory(t)
	ctx, c := t.Context(), r.Client()
	http := must[*kubernetes.Clientset](t)(kubernetes.NewForConfig(r.RESTConfig()))
	made := must[*batchv1.Job](t)(c.Jobs().Create(ctx, job("before")))
	full.Store(true)

	_, err := c.Jobs().Create(ctx, job("after"))
	if !apierrors.IsTooManyRequests(err) || !strings.Contains(err.Error(), "no new jobs: the memory is full; delete finished Jobs") {
		t.Errorf("a new Job in this process: %v", err)
	}
	request := http.BatchV1().RESTClient().Post().Namespace("default").Resource("jobs").Body(job("after")).MaxRetries(0)
	if err := request.Do(ctx).Error(); !apierrors.IsTooManyRequests(err) {
		t.Errorf("a new Job through HTTP: %v", err)
	}

	must[*batchv1.Job](t)(c.Jobs().Modify(ctx, made, func(j *batchv1.Job) { j.Labels = map[string]string{"a": "b"} }))
	event := &corev1.Event{ObjectMeta: metav1.ObjectMeta{Name: "e", Namespace: "default"},
		InvolvedObject: corev1.ObjectReference{Kind: "Job", Namespace: "default", Name: "before"}}
	must[*corev1.Event](t)(http.CoreV1().Events("default").Create(ctx, event, metav1.CreateOptions{}))
	if err := http.BatchV1().Jobs("default").Delete(ctx, made.Name, metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
	full.Store(false)
	must[*batchv1.Job](t)(c.Jobs().Create(ctx, job("after")))
}
