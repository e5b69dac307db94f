package explanation_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/apiserver/apiservertest"
	"github.com/stint-dev/stint/internal/cronjob"
	"github.com/stint-dev/stint/internal/explanation"
	"github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/test/wrappers"
)

func TestMain(m *testing.M) { apiservertest.Main(m) }

// The runs are usually created within one second.
func TestAHeldRunWaitsForThoseThatWereHeldBefore(t *testing.T) {
	server := apiservertest.Shared(t)
	cronJob, err := server.Client().CronJobs().Create(t.Context(), wrappers.MakeCronJob("nightly", "0 0 1 1 *").
		Namespace(server.Namespace).ConcurrencyPolicy(batchv1.ForbidConcurrent).Command("true").Obj())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"x", "c", "b", "a"} {
		run := wrappers.MakeJob(name).Namespace(server.Namespace).Command("true").
			Annotation("cronjob.kubernetes.io/instantiate", "manual").OwnerReferences(*metav1.NewControllerRef(cronJob, cronjob.Kind)).Obj()
		if _, err := server.Client().Jobs().Create(t.Context(), run); err != nil {
			t.Fatal(err)
		}
	}
	observer := explanation.Observer{Client: server.Client(), Settings: job.DefaultSettings(),
		Events: func(context.Context, string, types.UID) ([]corev1.Event, error) { return nil, nil }}
	for name, want := range map[string]string{"c": "job x", "b": "job c, job x", "a": "job b, job c, job x"} {
		x, err := observer.Explain(t.Context(), server.Namespace, name, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(x.Waits, func(w stintv1.JobWait) bool { return strings.HasSuffix(w.Message, "finish: "+want) }) {
			t.Errorf("run %s waits for %+v, want %s", name, x.Waits, want)
		}
	}
}
