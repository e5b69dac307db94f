package run

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/internal/cli/manifest"
	"github.com/stint-dev/stint/internal/cli/output"
	"github.com/stint-dev/stint/test/wrappers"
)

func suspendedJob(name string) *batchv1.Job {
	return wrappers.MakeJob(name).Namespace("default").Suspend(true).Containers("main").Command("true").Obj()
}

func TestRunThatCannotCreateAllLeavesWhatItJoined(t *testing.T) {
	s := newTestSession(t)
	joined, err := s.batch().Jobs("default").Create(t.Context(), suspendedJob("joined"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	refused := suspendedJob("refused")
	refused.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyAlways
	object := &manifest.Object{Typed: refused}
	err = s.submitter.createJobs(t.Context(), []*plan{
		{object: object, how: output.Followed, job: suspendedJob("joined"), existing: joined},
		{object: object, how: output.Created, job: suspendedJob("made")},
		{object: object, how: output.Created, job: refused},
	}, s.follower.track)
	if err == nil {
		t.Fatal("the invalid job was created")
	}
	s.follower.giveUp(t.Context())
	list, err := s.batch().Jobs("default").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, job := range list.Items {
		if job.DeletionTimestamp == nil {
			names = append(names, job.Name)
		}
	}
	slices.Sort(names)
	if diff := cmp.Diff([]string{"joined"}, names); diff != "" {
		t.Errorf("jobs that are left: %s", diff)
	}
}
