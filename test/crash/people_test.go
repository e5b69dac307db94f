package crash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/test/await"
)

const namespace = "default"

var (
	scheduledJobs = stintv1.SchemeGroupVersion.WithResource("scheduledjobs")
	cronJobs      = schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "cronjobs"}
)

// insist repeats a request until the server answers it, whatever happens to the server meanwhile. A request may have
// been carried out although its answer was lost, so repeating it must do no harm.
func (s *server) insist(ctx context.Context, resource schema.GroupVersionResource, request func(context.Context, dynamic.ResourceInterface) error) error {
	return await.Poll(ctx, func(ctx context.Context) (bool, error) {
		config, err := s.config()
		if err != nil {
			return false, nil // the kubeconfig is being written
		}
		client, err := dynamic.NewForConfig(config)
		if err != nil {
			return false, err
		}
		err = request(ctx, client.Resource(resource).Namespace(namespace))
		if refused := apierrors.APIStatus(nil); errors.As(err, &refused) && refused.Status().Code < 429 {
			return false, err
		}
		return err == nil, nil
	})
}

func (s *server) create(t *testing.T, resource schema.GroupVersionResource, obj any) {
	t.Helper()
	if err := s.make(t.Context(), resource, plain(t, obj)); err != nil {
		t.Fatal(err)
	}
}

func (s *server) make(ctx context.Context, resource schema.GroupVersionResource, body *unstructured.Unstructured) error {
	return s.insist(ctx, resource, func(ctx context.Context, client dynamic.ResourceInterface) error {
		_, err := client.Create(ctx, body, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	})
}

// run asks for a run on demand.
func (s *server) run(ctx context.Context, name, tag string) error {
	run := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": stintv1.SchemeGroupVersion.String(),
		"kind":       "ScheduledJobRun",
		"metadata":   map[string]any{"name": name},
		"tag":        tag,
	}}
	return s.insist(ctx, scheduledJobs, func(ctx context.Context, client dynamic.ResourceInterface) error {
		_, err := client.Create(ctx, run, metav1.CreateOptions{}, "run")
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	})
}

func (s *server) scheduledJob(t *testing.T, name string) *stintv1.ScheduledJob {
	t.Helper()
	obj := &stintv1.ScheduledJob{}
	err := s.insist(t.Context(), scheduledJobs, func(ctx context.Context, client dynamic.ResourceInterface) error {
		found, err := client.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		text, err := found.MarshalJSON()
		if err != nil {
			return err
		}
		*obj = stintv1.ScheduledJob{}
		return json.Unmarshal(text, obj)
	})
	if err != nil {
		t.Fatal(err)
	}
	return obj
}

// await waits until a check of a ScheduledJob returns true.
func (s *server) await(t *testing.T, name, what string, is func(*stintv1.ScheduledJob) bool) *stintv1.ScheduledJob {
	t.Helper()
	var last *stintv1.ScheduledJob
	await.Until(t, name+": "+what, func() bool {
		last = s.scheduledJob(t, name)
		return is(last)
	}, func() string { return fmt.Sprintf("status: %+v", last.Status) })
	return last
}

func plain(t *testing.T, obj any) *unstructured.Unstructured {
	t.Helper()
	text, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal(text, &u.Object); err != nil {
		t.Fatal(fmt.Errorf("%s: %w", text, err))
	}
	return u
}
