package job

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/internal/apiserver/registry/pod"
	"github.com/stint-dev/stint/internal/apiserver/registry/registrytest"
)

func exported(job *batchv1.Job) {
	job.ResourceVersion = "7"
	job.Generation = 3
	job.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "CronJob", Name: "nightly", UID: "u", Controller: new(true)}}
	job.Status = batchv1.JobStatus{Succeeded: 1, Conditions: []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: "True"}}}
}

func TestExportedJobIsPostedAgain(t *testing.T) {
	job := registrytest.Job(exported, selecting("batch.kubernetes.io/controller-uid", otherJobsID), podLabels(generatedFor(otherJobsID, "old")))
	SetDefaults(job)
	warnings := strings.Join(prepareForCreate(job), "\n")
	want := createdJob()
	if diff := cmp.Diff(want, job); diff != "" {
		t.Errorf("the new Job (-want +got):\n%s", diff)
	}
	for _, said := range []string{otherJobsID, "CronJob nightly"} {
		if !strings.Contains(warnings, said) {
			t.Errorf("warnings do not tell of %s:\n%s", said, warnings)
		}
	}
}

func TestRunOfACopiedTemplateKeepsItsOwner(t *testing.T) {
	job := registrytest.Job(exported, podLabels(generatedFor(otherJobsID, "old")))
	owners := job.OwnerReferences
	SetDefaults(job)
	prepareForCreate(job)
	if diff := cmp.Diff(owners, job.OwnerReferences); diff != "" {
		t.Errorf("owners (-want +got):\n%s", diff)
	}
	registrytest.WantErrors(t, Resource(pod.Options{}).Validate(t.Context(), job))
}

func TestCopyWithoutUIDsIsRecognisedByTheName(t *testing.T) {
	job := registrytest.Job(podLabels(map[string]string{"batch.kubernetes.io/job-name": "old", "job-name": "old"}))
	SetDefaults(job)
	if warnings := strings.Join(prepareForCreate(job), "\n"); !strings.Contains(warnings, `Job "old"`) {
		t.Errorf("warnings: %s", warnings)
	}
}

func TestAJobThatIsNoCopyBringsNoWarning(t *testing.T) {
	for sentence, edits := range map[string][]jobEdit{
		"a new Job":                                nil,
		"a Job with an owner":                      edits(exported),
		"a selector of one's own":                  edits(manualSelector(map[string]string{"app": "x"}), exported),
		"another's UID in a selector of one's own": edits(manualSelector(generatedFor(otherJobsID, "old"))),
	} {
		t.Run(sentence, func(t *testing.T) {
			job := registrytest.Job(edits...)
			owners := job.OwnerReferences
			SetDefaults(job)
			if warnings := prepareForCreate(job); len(warnings) > 0 {
				t.Errorf("created: %s", warnings)
			}
			if diff := cmp.Diff(owners, job.OwnerReferences); diff != "" {
				t.Errorf("owners (-want +got):\n%s", diff)
			}
			if job.ResourceVersion != "" {
				t.Errorf("resourceVersion %s", job.ResourceVersion)
			}
			if warnings := prepareForUpdate(job.DeepCopy(), job); len(warnings) > 0 {
				t.Errorf("updated: %s", warnings)
			}
		})
	}
}

func TestIsExported(t *testing.T) {
	for sentence, c := range map[string]struct {
		job  *batchv1.Job
		want bool
	}{
		"selector and labels of another Job": {registrytest.Job(selecting("batch.kubernetes.io/controller-uid", otherJobsID), podLabels(generatedFor(otherJobsID, "old"))), true},
		"its template only":                  {registrytest.Job(podLabels(generatedFor(otherJobsID, "old"))), false},
		"a selector that its author answers for": {registrytest.Job(manualSelector(map[string]string{"batch.kubernetes.io/controller-uid": otherJobsID}),
			podLabels(generatedFor(otherJobsID, "old"))), false},
		"a new Job": {registrytest.Job(), false},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := IsExported(c.job); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestApplyingACopyAgainBringsTheWarningAgain(t *testing.T) {
	copied := edits(selecting("batch.kubernetes.io/controller-uid", otherJobsID), podLabels(generatedFor(otherJobsID, "old")))
	old := createdJob(copied...)
	if got := prepareForUpdate(editedJob(old, copied...), old); len(got) != 1 || !strings.Contains(got[0], otherJobsID) {
		t.Errorf("warnings: %q", got)
	}
	manual := editedJob(old, append(copied, specEdit(func(s *batchv1.JobSpec) { s.ManualSelector = new(true) }))...)
	if got := prepareForUpdate(manual, old); len(got) > 0 {
		t.Errorf("a selector that its author answers for: %q", got)
	}
}
