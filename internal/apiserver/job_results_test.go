package apiserver_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	core "github.com/stint-dev/stint/internal/job"
)

func TestResultsAreThoseOfSlicesAndPods(t *testing.T) {
	r := start(t)
	ctx := t.Context()
	made := must[*batchv1.Job](t)(r.Client().Jobs().Create(ctx, job("j")))
	p := pod("there")
	p.Labels = made.Spec.Template.Labels
	p.OwnerReferences = []metav1.OwnerReference{core.ControllerRef(made)}
	must[*corev1.Pod](t)(r.Client().Pods().Create(ctx, p))
	must[*stintv1.ResultSlice](t)(r.Client().ResultSlices().Create(ctx, &stintv1.ResultSlice{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "j-",
			Labels: map[string]string{batchv1.ControllerUidLabel: string(made.UID)}, OwnerReferences: p.OwnerReferences},
		Results: []stintv1.PodResult{{Pod: "gone", UID: "1", Phase: corev1.PodFailed, Message: "so be it"}},
	}))
	text, err := r.clientset(t).BatchV1().RESTClient().Get().AbsPath("/apis/batch/v1/namespaces/default/jobs/j/results").DoRaw(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var got stintv1.JobResults
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if got.Kind != "JobResults" || got.APIVersion != "stint.dev/v1" || got.Name != "j" || len(got.Items) != 2 ||
		got.Items[0].Message != "so be it" || got.Items[1].Pod != "there" {
		t.Errorf("answered %s", text)
	}
	_, err = r.clientset(t).BatchV1().RESTClient().Get().AbsPath("/apis/batch/v1/namespaces/default/jobs/other/results").DoRaw(ctx)
	if !apierrors.IsNotFound(err) {
		t.Errorf("results of no Job: %v", err)
	}
}

func TestSlicesThatAreTooLargeAreRefused(t *testing.T) {
	r := start(t)
	for name, change := range map[string]func(*stintv1.ResultSlice){
		"results: Too many": func(s *stintv1.ResultSlice) {
			for i := range stintv1.MaxSliceResults {
				s.Results = append(s.Results, stintv1.PodResult{Pod: "p", UID: types.UID(fmt.Sprint(i)), Phase: corev1.PodFailed})
			}
		},
		"results[0].message: Too long":    func(s *stintv1.ResultSlice) { s.Results[0].Message = string(make([]byte, stintv1.MaxResultMessage+1)) },
		"results[0].reason: Too long":     func(s *stintv1.ResultSlice) { s.Results[0].Reason = string(make([]byte, stintv1.MaxResultName+1)) },
		"results[0].uid: Required":        func(s *stintv1.ResultSlice) { s.Results[0].UID = "" },
		"results[0].phase: Unsupported":   func(s *stintv1.ResultSlice) { s.Results[0].Phase = "Over" },
		"results[0].restarts: Invalid":    func(s *stintv1.ResultSlice) { s.Results[0].Restarts = -1 },
		"before: Invalid value: -1":       func(s *stintv1.ResultSlice) { s.Before = -1 },
		"results[0].pod: Required value:": func(s *stintv1.ResultSlice) { s.Results[0].Pod = "" },
	} {
		s := &stintv1.ResultSlice{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "s"},
			Results: []stintv1.PodResult{{Pod: "p", UID: "u", Phase: corev1.PodFailed}}}
		change(s)
		_, err := r.Client().ResultSlices().Create(t.Context(), s)
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %q", err, name)
		}
	}
}
