package run

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/cli/manifest"
	"github.com/stint-dev/stint/internal/cli/output"
	"github.com/stint-dev/stint/internal/cli/target"
	"github.com/stint-dev/stint/internal/server"
)

// newTestSession is a run against a server without a node: its Jobs stay as they are.
func newTestSession(t *testing.T) *session {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	s, err := server.Start(ctx, server.Options{DataDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		if err := s.Wait(); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("stop the server: %v", err)
		}
	})
	run, err := newSession(Options{Logs: LogsNone}, &target.Target{Kind: target.Embedded, Config: s.RESTConfig()},
		output.NewQuiet(io.Discard, io.Discard, false))
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func suspendedJob(name string) *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
		Spec: batchv1.JobSpec{Suspend: ptr.To(true), Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			Containers:    []corev1.Container{{Name: "main", Image: "none", Command: []string{"true"}}},
		}}},
	}
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
	err = s.createJobs(t.Context(), []*plan{
		{object: object, how: output.Followed, existing: joined},
		{object: object, how: output.Created, job: suspendedJob("made")},
		{object: object, how: output.Created, job: refused},
	})
	if err == nil {
		t.Fatal("the invalid job was created")
	}
	s.giveUp(t.Context())
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
