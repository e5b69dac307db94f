package apiserver_test

import (
	"strings"
	"sync"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	core "github.com/stint-dev/stint/internal/job"
)

func dependent(name, on string) *batchv1.Job {
	j := job(name)
	if on != "" {
		j.Annotations = map[string]string{core.DependsOn: on}
	}
	return j
}

func TestJobsThatWouldWaitForEachOtherAreRefused(t *testing.T) {
	r := start(t)
	jobs := r.clientset(t).BatchV1().Jobs("default")
	create := func(j *batchv1.Job, dryRun ...string) error {
		_, err := jobs.Create(t.Context(), j, metav1.CreateOptions{DryRun: dryRun})
		return err
	}
	for _, test := range []struct {
		why  string
		job  *batchv1.Job
		want string
	}{
		{"a Job for itself", dependent("self", "self"), "self → self"},
		{"the other Job does not exist yet", dependent("a", "b"), ""},
		{"a chain is none", dependent("b", "x,c"), ""},
		{"the last of three closes it", dependent("c", "a"), "c → a → b → c"},
		{"in any of its dependencies", dependent("c", "y, z=Finished, b"), "c → b → c"},
		{"without that dependency it is accepted", dependent("c", "y"), ""},
		{"ways that meet again are none", dependent("d", "a,b,c"), ""},
	} {
		for _, dryRun := range [][]string{{metav1.DryRunAll}, nil} {
			err := create(test.job, dryRun...)
			switch {
			case test.want == "" && err != nil:
				t.Errorf("%s: %v", test.why, err)
			case test.want != "" && (!apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "Jobs would wait for each other: "+test.want) ||
				!strings.Contains(err.Error(), "metadata.annotations[stint.dev/depends-on]")):
				t.Errorf("%s: %v", test.why, err)
			}
		}
	}
	change := func(name, on string) error {
		_, err := jobs.Patch(t.Context(), name, types.MergePatchType,
			[]byte(`{"metadata":{"annotations":{"stint.dev/depends-on":"`+on+`"}}}`), metav1.PatchOptions{})
		return err
	}
	if err := change("c", "y,a"); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "c → a → b → c") {
		t.Errorf("a change that closes a cycle: %v", err)
	}
	if err := change("b", "x"); err != nil {
		t.Errorf("a change that opens it: %v", err)
	}
	if err := change("c", "y,a"); err != nil {
		t.Errorf("and then the other: %v", err)
	}
	if err := jobs.Delete(t.Context(), "a", metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationBackground)}); err != nil {
		t.Fatal(err)
	}
	if err := create(dependent("b2", "c")); err != nil {
		t.Errorf("a deleted Job waits for no other: %v", err)
	}
}

func TestOfTwoJobsThatCloseACycleAtTheSameTimeOneIsRefused(t *testing.T) {
	r := start(t)
	for range 10 {
		var both sync.WaitGroup
		errs := make([]error, 2)
		for i, j := range []*batchv1.Job{dependent("a", "b"), dependent("b", "a")} {
			both.Go(func() { _, errs[i] = r.Client().Jobs().Create(t.Context(), j) })
		}
		both.Wait()
		if (errs[0] == nil) == (errs[1] == nil) {
			t.Fatalf("one must be refused: %v; %v", errs[0], errs[1])
		}
		for i, name := range []string{"a", "b"} {
			if errs[i] != nil {
				continue
			}
			if err := r.clientset(t).BatchV1().Jobs("default").Delete(t.Context(), name, metav1.DeleteOptions{
				PropagationPolicy: ptr.To(metav1.DeletePropagationBackground)}); err != nil {
				t.Fatal(err)
			}
		}
	}
}
