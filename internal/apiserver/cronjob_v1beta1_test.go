package apiserver_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/api/batch/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/stint-dev/stint/internal/apiserver/apiservertest"
)

const oldCronJobManifest = `apiVersion: batch/v1beta1
kind: CronJob
metadata:
  name: nightly
spec:
  schedule: "0 3 * * *"
  jobTemplate:
    spec:
      template:
        spec:
          containers: [{name: c, image: busybox, command: ["true"]}]
          restartPolicy: OnFailure
`

func TestCronJobsAreServedInBothVersions(t *testing.T) {
	s := apiservertest.Start(t)
	clients := s.Clientset()
	old := clients.BatchV1beta1().CronJobs("default")
	current := clients.BatchV1().CronJobs("default")
	made := must[*v1beta1.CronJob](t)(old.Create(t.Context(), &v1beta1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Name: "c"},
		Spec: v1beta1.CronJobSpec{Schedule: "0 3 * * *",
			JobTemplate: v1beta1.JobTemplateSpec{Spec: job("").Spec}},
	}, metav1.CreateOptions{}))
	if made.Spec.ConcurrencyPolicy != v1beta1.AllowConcurrent || *made.Spec.SuccessfulJobsHistoryLimit != 3 || made.Generation != 1 {
		t.Errorf("not as batch/v1 has it by default: %+v", made.Spec)
	}

	seen := must[*batchv1.CronJob](t)(current.Get(t.Context(), "c", metav1.GetOptions{}))
	if diff := cmp.Diff(made.ObjectMeta.UID, seen.UID); diff != "" || seen.Spec.Schedule != "0 3 * * *" {
		t.Errorf("in batch/v1: %+v", seen)
	}
	must[*batchv1.CronJob](t)(current.Patch(t.Context(), "c", types.StrategicMergePatchType, []byte(`{"spec":{"suspend":true}}`), metav1.PatchOptions{}))
	made = must[*v1beta1.CronJob](t)(old.Get(t.Context(), "c", metav1.GetOptions{}))
	made.Status.LastScheduleTime = new(metav1.Now())
	made = must[*v1beta1.CronJob](t)(old.UpdateStatus(t.Context(), made, metav1.UpdateOptions{}))
	if !*made.Spec.Suspend || made.Status.LastScheduleTime == nil {
		t.Errorf("after writes through either version: %+v", made)
	}
	list := must[*v1beta1.CronJobList](t)(old.List(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=c"}))
	if len(list.Items) != 1 || list.Items[0].Status.LastScheduleTime == nil {
		t.Errorf("the list: %+v", list.Items)
	}
	_, err := old.Patch(t.Context(), "c", types.MergePatchType, []byte(`{"spec":{"schedule":"never"}}`), metav1.PatchOptions{})
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "spec.schedule") {
		t.Errorf("a wrong schedule: %v", err)
	}
}

func TestManagersOfACronJobRespectEachOtherInBothVersions(t *testing.T) {
	config := apiservertest.Start(t).RESTConfig()
	clients := must[*dynamic.DynamicClient](t)(dynamic.NewForConfig(config))
	apply := func(version, manager string, suspend bool) (*unstructured.Unstructured, error) {
		gv := batchv1.SchemeGroupVersion
		gv.Version = version
		obj := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"suspend": suspend, "schedule": "0 3 * * *",
			"jobTemplate": map[string]any{"spec": manifest(gv, "c", nil).Object["spec"]}},
			"status": map[string]any{"lastScheduleTime": "2026-03-01T00:00:00Z"}}}
		obj.SetGroupVersionKind(gv.WithKind("CronJob"))
		obj.SetName("c")
		return clients.Resource(gv.WithResource("cronjobs")).Namespace("default").Apply(t.Context(), "c", obj, metav1.ApplyOptions{FieldManager: manager})
	}
	made := must[*unstructured.Unstructured](t)(apply("v1beta1", "old", true))
	if fields := must[[]byte](t)(made.MarshalJSON()); strings.Contains(string(fields), "f:status") {
		t.Errorf("who applies a CronJob owns its status: %s", fields)
	}
	if _, err := apply("v1", "new", true); err != nil {
		t.Errorf("the same values: %v", err)
	}
	if _, err := apply("v1", "new", false); !apierrors.IsConflict(err) || !strings.Contains(err.Error(), ".spec.suspend") {
		t.Errorf("another's field: %v, want a conflict about it", err)
	}
}

func TestDiscoveryPrefersTheNewerVersionOfAGroup(t *testing.T) {
	clients := must[*kubernetes.Clientset](t)(kubernetes.NewForConfig(rest.CopyConfig(apiservertest.Start(t).RESTConfig())))
	groups := must[*metav1.APIGroupList](t)(clients.Discovery().ServerGroups())
	for _, g := range groups.Groups {
		if g.Name != batchv1.GroupName {
			continue
		}
		if len(g.Versions) != 2 || g.PreferredVersion.Version != "v1" || g.Versions[0].Version != "v1" {
			t.Errorf("versions of batch: %+v", g)
		}
	}
	old := must[*metav1.APIResourceList](t)(clients.Discovery().ServerResourcesForGroupVersion("batch/v1beta1"))
	var names []string
	for _, r := range old.APIResources {
		names = append(names, r.Name)
	}
	if diff := cmp.Diff([]string{"cronjobs", "cronjobs/status"}, names); diff != "" {
		t.Errorf("batch/v1beta1 (-want +got):\n%s", diff)
	}
}

func TestKubectlWorksWithOldCronJobs(t *testing.T) {
	runKubectl(t, start(t), []kubectlStep{
		{does: "both versions are listed", args: "api-versions", want: "batch/v1\nbatch/v1beta1\n"},
		{does: "an old manifest is applied", args: "apply -f old.yaml", want: "cronjob.batch/nightly created"},
		{does: "applied again it changes nothing", args: "apply -f old.yaml", want: "unchanged"},
		{does: "and differs in nothing", args: "diff -f old.yaml", want: ""},
		{does: "the new version is what one means", args: "get cronjob nightly -o yaml", want: "apiVersion: batch/v1\n"},
		{does: "the old one can be asked for", args: "get cronjobs.v1beta1.batch nightly -o yaml", want: "apiVersion: batch/v1beta1\n"},
		{does: "in a table too", args: "get cronjobs.v1beta1.batch", want: "0 3 * * *"},
		{does: "all has it once", args: "get all -o name", want: "cronjob.batch/nightly\n"},
		{does: "it is explained", args: "explain cronjob.spec.schedule --api-version=batch/v1beta1", want: "VERSION:    v1beta1"},
		{does: "it is patched", args: `patch cronjobs.v1beta1.batch nightly -p {"spec":{"suspend":true}}`, want: "patched"},
		{does: "a run is made of it", args: "create job --from=cronjob/nightly now", want: "job.batch/now created"},
		{does: "the new manifest takes its place", args: "apply -f new.yaml", want: "cronjob.batch/nightly configured"},
		{does: "it is deleted", args: "delete cronjobs.v1beta1.batch nightly --timeout=5m", want: "deleted"},
		{does: "and is gone", args: "get cronjob nightly", want: "NotFound", fails: true},
	}, map[string]string{
		"old.yaml": oldCronJobManifest,
		"new.yaml": strings.Replace(oldCronJobManifest, "batch/v1beta1", "batch/v1", 1),
	})
}
