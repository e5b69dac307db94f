package apiserver_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/stint-dev/stint/api/extensions/v1beta1"
	"github.com/stint-dev/stint/internal/apiserver/apiservertest"
)

// exportedFromCluster is a run of a CronJob as `kubectl get job -o yaml --show-managed-fields` prints it on a cluster with
// kube-apiserver 1.36.
const exportedFromCluster = `
apiVersion: batch/v1
kind: Job
metadata:
  annotations:
    batch.kubernetes.io/cronjob-scheduled-timestamp: "2026-05-09T07:00:00Z"
  creationTimestamp: "2026-05-09T07:00:00Z"
  generation: 1
  labels:
    batch.kubernetes.io/controller-uid: 3d0a7a3c-9b1e-4c55-8b0e-5a6b7c8d9e0f
    batch.kubernetes.io/job-name: nightly-29638500
    controller-uid: 3d0a7a3c-9b1e-4c55-8b0e-5a6b7c8d9e0f
    job-name: nightly-29638500
  managedFields:
  - apiVersion: batch/v1
    fieldsType: FieldsV1
    fieldsV1: {"f:spec": {"f:backoffLimit": {}, "f:parallelism": {}}}
    manager: kube-controller-manager
    operation: Update
    time: "2026-05-09T07:00:00Z"
  name: nightly-29638500
  namespace: default
  ownerReferences:
  - apiVersion: batch/v1
    blockOwnerDeletion: true
    controller: true
    kind: CronJob
    name: nightly
    uid: 0f2b1c9e-2f7c-4a59-9a3e-8d7c6b5a4f3e
  resourceVersion: "48151"
  uid: 3d0a7a3c-9b1e-4c55-8b0e-5a6b7c8d9e0f
spec:
  backoffLimit: 6
  completionMode: NonIndexed
  completions: 1
  manualSelector: false
  parallelism: 1
  podReplacementPolicy: TerminatingOrFailed
  selector:
    matchLabels:
      batch.kubernetes.io/controller-uid: 3d0a7a3c-9b1e-4c55-8b0e-5a6b7c8d9e0f
  suspend: false
  template:
    metadata:
      labels:
        batch.kubernetes.io/controller-uid: 3d0a7a3c-9b1e-4c55-8b0e-5a6b7c8d9e0f
        batch.kubernetes.io/job-name: nightly-29638500
        controller-uid: 3d0a7a3c-9b1e-4c55-8b0e-5a6b7c8d9e0f
        job-name: nightly-29638500
    spec:
      containers:
      - {name: c, image: busybox, imagePullPolicy: Always, resources: {}, terminationMessagePath: /dev/termination-log, terminationMessagePolicy: File}
      dnsPolicy: ClusterFirst
      restartPolicy: Never
      schedulerName: default-scheduler
      securityContext: {}
      terminationGracePeriodSeconds: 30
status:
  completionTime: "2026-05-09T07:00:04Z"
  conditions:
  - {type: SuccessCriteriaMet, status: "True", reason: CompletionsReached, message: Reached expected number of succeeded pods}
  - {type: Complete, status: "True", reason: CompletionsReached, message: Reached expected number of succeeded pods}
  ready: 0
  startTime: "2026-05-09T07:00:00Z"
  succeeded: 1
  terminating: 0
  uncountedTerminatedPods: {}
`

func fromCluster(t testing.TB) *unstructured.Unstructured {
	t.Helper()
	job := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(exportedFromCluster), &job.Object); err != nil {
		t.Fatal(err)
	}
	return job
}

// listening returns clients for Jobs and the warnings that they get.
func listening(t testing.TB, config *rest.Config) (bothVersions, *warnings) {
	heard := &warnings{}
	config.WarningHandler = heard
	return jobsOf(t, config), heard
}

func TestAnExportedJobIsPostedAgain(t *testing.T) {
	jobs, heard := listening(t, apiservertest.Start(t).RESTConfig())
	job := must[*unstructured.Unstructured](t)
	job(jobs.batch.Create(t.Context(), manifest(batchv1.SchemeGroupVersion, "ours", nil), metav1.CreateOptions{}))
	ours := func() *unstructured.Unstructured {
		return job(jobs.batch.Get(t.Context(), "ours", metav1.GetOptions{}))
	}
	oursInOld := func() *unstructured.Unstructured { return job(jobs.old.Get(t.Context(), "ours", metav1.GetOptions{})) }
	theirs := func() *unstructured.Unstructured { return fromCluster(t) }
	for sentence, c := range map[string]struct {
		exported func() *unstructured.Unstructured
		name     string
	}{
		"of this server":                       {ours, "ours-again"},
		"of this server, in the old version":   {oursInOld, "ours-in-the-old-version"},
		"of a cluster":                         {theirs, "again"},
		"of a cluster, with the name it had":   {theirs, "nightly-29638500"},
		"of a cluster, with a name to be made": {theirs, ""},
		"with the name of one that goes first": {ours, "ours"},
	} {
		t.Run(sentence, func(t *testing.T) {
			exported, client := c.exported(), jobs.batch
			if exported.GetAPIVersion() != "batch/v1" {
				client = jobs.old
			}
			uid := exported.GetUID()
			exported.SetName(c.name)
			if c.name == "" {
				exported.SetGenerateName("made-")
			}
			heard.texts = nil
			made, err := client.Create(t.Context(), exported, metav1.CreateOptions{FieldValidation: "Strict"})
			if c.name == "ours" {
				if !apierrors.IsAlreadyExists(err) {
					t.Fatalf("error %v, want AlreadyExists", err)
				}
				if err := client.Delete(t.Context(), "ours", metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)}); err != nil {
					t.Fatal(err)
				}
				made, err = client.Create(t.Context(), exported, metav1.CreateOptions{FieldValidation: "Strict"})
			}
			if err != nil {
				t.Fatal(err)
			}
			if made.GetUID() == uid || len(made.GetOwnerReferences()) > 0 {
				t.Errorf("uid %s, owners %v", made.GetUID(), made.GetOwnerReferences())
			}
			if !selectionOf(t, made).Generated {
				t.Errorf("selector %v", made.Object["spec"])
			}
			labels, _, _ := unstructured.NestedStringMap(made.Object, "spec", "template", "metadata", "labels")
			delete(labels, "app")
			want := map[string]string{"batch.kubernetes.io/controller-uid": string(made.GetUID()), "controller-uid": string(made.GetUID()),
				"batch.kubernetes.io/job-name": made.GetName(), "job-name": made.GetName()}
			if diff := cmp.Diff(want, labels); diff != "" {
				t.Errorf("labels of its pods (-want +got):\n%s", diff)
			}
			if status, _, _ := unstructured.NestedMap(made.Object, "status"); len(status) > 0 {
				t.Errorf("status %v", status)
			}
			if !slices.ContainsFunc(heard.texts, func(text string) bool { return strings.Contains(text, string(uid)) }) {
				t.Errorf("warnings %q do not tell of %s", heard.texts, uid)
			}
		})
	}
}

func TestASelectorOfTheUserIsNoCopy(t *testing.T) {
	jobs, heard := listening(t, apiservertest.Start(t).RESTConfig())
	for sentence, change := range map[string]func(selector, labels map[string]any){
		"a label of one's own beside the UID": func(selector, labels map[string]any) { selector["app"], labels["app"] = "x", "x" },
		"another UID in the labels": func(_, labels map[string]any) {
			labels["controller-uid"] = "00000000-9b1e-4c55-8b0e-5a6b7c8d9e0f"
		},
		"a UID that is none": func(selector, labels map[string]any) {
			for _, m := range []map[string]any{selector, labels} {
				for key := range maps.Clone(m) {
					if strings.HasSuffix(key, "uid") {
						m[key] = "mine"
					}
				}
			}
		},
	} {
		for _, version := range []schema.GroupVersion{batchv1.SchemeGroupVersion, v1beta1.SchemeGroupVersion} {
			exported, client := fromCluster(t), jobs.batch
			spec := exported.Object["spec"].(map[string]any)
			change(spec["selector"].(map[string]any)["matchLabels"].(map[string]any),
				spec["template"].(map[string]any)["metadata"].(map[string]any)["labels"].(map[string]any))
			if version == v1beta1.SchemeGroupVersion {
				client = jobs.old
				exported.SetGroupVersionKind(version.WithKind("Job"))
				delete(spec, "manualSelector")
				spec["autoSelector"] = true
			}
			if _, err := client.Create(t.Context(), exported, metav1.CreateOptions{}); !apierrors.IsInvalid(err) {
				t.Errorf("%s, in %s: %v, want Invalid", sentence, version, err)
			}
		}
	}
	if len(heard.texts) > 0 {
		t.Errorf("warnings %q", heard.texts)
	}
}

func TestTheOldVersionTakesASelectorForTheAuthorsAndSaysSo(t *testing.T) {
	jobs, heard := listening(t, apiservertest.Start(t).RESTConfig())
	exported := fromCluster(t)
	exported.SetGroupVersionKind(v1beta1.SchemeGroupVersion.WithKind("Job"))
	unstructured.RemoveNestedField(exported.Object, "spec", "manualSelector")
	made := must[*unstructured.Unstructured](t)(jobs.old.Create(t.Context(), exported, metav1.CreateOptions{}))
	if selectionOf(t, made).Generated {
		t.Errorf("selector %v", made.Object["spec"])
	}
	if len(heard.texts) != 1 || !strings.Contains(heard.texts[0], "set spec.autoSelector to true") {
		t.Errorf("warnings %q", heard.texts)
	}
}

func TestACopyOfARunWaitsForNoOtherRun(t *testing.T) {
	s := apiservertest.Start(t)
	cronJobs, jobs := s.Client().CronJobs(), s.Client().Jobs()
	forbid := must[*batchv1.CronJob](t)(cronJobs.Create(t.Context(), cronJob("forbid", batchv1.ForbidConcurrent)))
	run := must[*batchv1.Job](t)(jobs.Create(t.Context(), onDemand("run", forbid)))
	run.Name = "copy"
	if made := must[*batchv1.Job](t)(jobs.Create(t.Context(), run)); isHeld(made) || len(made.OwnerReferences) > 0 {
		t.Errorf("held: %v, owners: %v", isHeld(made), made.OwnerReferences)
	}
}
