// Package clienttest tests what client.Resource promises, with one test for each promise. Every implementation must
// pass.
package clienttest

import (
	"context"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/test/wrappers"
)

// Client is what is tested.
type Client interface {
	Jobs() client.Resource[*batchv1.Job]
	Pods() client.Resource[*corev1.Pod]
	CronJobs() client.Resource[*batchv1.CronJob]
	ScheduledJobs() client.Resource[*stintv1.ScheduledJob]
	ResultSlices() client.Resource[*stintv1.ResultSlice]
	PodTemplates() client.Resource[*corev1.PodTemplate]
}

// world is a client and a namespace for one promise.
type world struct {
	*testing.T
	Client
	// start starts the informers.
	start     func(context.Context)
	namespace string
}

// Run tests a client. start starts the informers that the tests have asked the client for, namespace creates a
// namespace.
func Run(t *testing.T, c Client, start func(context.Context), namespace func(*testing.T) string) {
	for _, p := range promises {
		t.Run(p.name, func(t *testing.T) { p.test(&world{t, c, start, namespace(t)}) })
	}
}

func (w *world) job(name string) *batchv1.Job {
	return wrappers.MakeJob(name).Namespace(w.namespace).Command("true").Obj()
}

func (w *world) pod(name string) *corev1.Pod {
	return wrappers.MakePod(name).Namespace(w.namespace).Image("i").Command("true").Obj()
}

// made creates a pod.
func (w *world) made(p *corev1.Pod) *corev1.Pod {
	w.Helper()
	return must(w.Pods().Create(w.Context(), p))(w)
}

// must returns what a call returned without error.
func must[T any](v T, err error) func(*world) T {
	return func(w *world) T {
		w.Helper()
		if err != nil {
			w.Fatal(err)
		}
		return v
	}
}
