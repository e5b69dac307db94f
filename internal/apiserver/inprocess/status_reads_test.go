package inprocess_test

import (
	"testing"

	"k8s.io/apiserver/pkg/storage/etcd3/metrics"
	"k8s.io/component-base/metrics/legacyregistry"

	"github.com/stint-dev/stint/internal/apiserver/apiservertest"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/wrappers"
)

// jobReads returns how many Jobs were read from etcd by their names.
func jobReads(t *testing.T) (sum float64) {
	t.Helper()
	for _, family := range must(legacyregistry.DefaultGatherer.Gather())(t) {
		for _, m := range family.GetMetric() {
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			if family.GetName() == "etcd_requests_total" && labels["operation"] == "get" && labels["resource"] == "jobs" {
				sum += m.GetCounter().GetValue()
			}
		}
	}
	return sum
}

func TestAStatusOfACachedObjectIsStoredWithoutReadingIt(t *testing.T) {
	metrics.Register()
	s := apiservertest.Start(t, apiservertest.In(t.TempDir()))
	jobs := s.Client().Jobs()
	informer := jobs.Informer()
	if err := s.StartInformers(t.Context()); err != nil {
		t.Fatal(err)
	}
	made := must(jobs.Create(t.Context(), wrappers.MakeJob("j").Namespace("default").Image("i").Obj()))(t)
	await.Until(t, "the server's cache, which feeds the informer, has the Job", func() bool {
		_, shown, _ := informer.GetStore().GetByKey("default/j")
		return shown
	})
	before := jobReads(t)
	changed := made.DeepCopy()
	changed.Status.Active = 1
	stored := must(jobs.UpdateStatus(t.Context(), changed))(t)
	if n := jobReads(t) - before; n != 0 || stored.Status.Active != 1 || stored.ResourceVersion == made.ResourceVersion {
		t.Errorf("%v reads, status %+v", n, stored.Status)
	}
	if _, err := jobs.Get(t.Context(), "default", "j"); err != nil {
		t.Fatal(err)
	}
	if jobReads(t) == before {
		t.Error("a read was not counted, so that this test shows nothing")
	}
}
