package job

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func TestPodFromTemplate(t *testing.T) {
	j := aJob().Indexed().Completions(1).Parallelism(1).BackoffLimitPerIndex(2).With(func(j *batchv1.Job) {
		j.Annotations = map[string]string{"of": "the Job", RuntimeClass: "oci", PodMaxPIDs: "100"}
		j.Spec.Template.Annotations = map[string]string{"note": "n"}
		j.Spec.Template.Spec.InitContainers = []corev1.Container{{Name: "init", Env: []corev1.EnvVar{{Name: indexVariable, Value: "mine"}}}}
	}).Obj()
	before := j.DeepCopy()
	made := Decide(observed(j, aPod("last").Index(0).IndexFailureCount(1).Exited(1, at(0)).Obj())).Create
	index := &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{
		FieldPath: "metadata.labels['batch.kubernetes.io/job-completion-index']"}}
	want := []*corev1.Pod{{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName: "j-0-", Namespace: "ns", Finalizers: []string{batchv1.JobTrackingFinalizer},
			Labels: map[string]string{"job": "j", batchv1.JobCompletionIndexAnnotation: "0"},
			Annotations: map[string]string{"note": "n", batchv1.JobCompletionIndexAnnotation: "0",
				batchv1.JobIndexFailureCountAnnotation: "2", RuntimeClass: "oci", PodMaxPIDs: "100"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "j", UID: "job-uid",
				Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true)}},
		},
		Spec: corev1.PodSpec{
			RestartPolicy:  corev1.RestartPolicyNever,
			Hostname:       "j-0",
			InitContainers: []corev1.Container{{Name: "init", Env: []corev1.EnvVar{{Name: indexVariable, Value: "mine"}}}},
			Containers:     []corev1.Container{{Name: "c", Image: "busybox", Env: []corev1.EnvVar{{Name: indexVariable, ValueFrom: index}}}},
		},
	}}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Errorf("pod (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, j); diff != "" {
		t.Errorf("the Job was changed:\n%s", diff)
	}
}

func TestLongNamesKeepTheirIndex(t *testing.T) {
	got := indexedNamePrefix(strings.Repeat("x", 63), 12345)
	if want := strings.Repeat("x", 51) + "-12345-"; got != want {
		t.Errorf("prefix %q, want %q", got, want)
	}
}

func TestClaim(t *testing.T) {
	other := func(p *corev1.Pod) { p.OwnerReferences[0].UID = "other" }
	unmatched := func(p *corev1.Pod) { p.Labels = nil }
	deleting := aJob().DeletionTimestamp(at(0)).Obj()
	tests := map[string]struct {
		job                    *batchv1.Job
		pod                    *corev1.Pod
		owns, adopts, releases bool
	}{
		"a pod of the Job":                  {aJob().Obj(), aPod("p").Obj(), true, false, false},
		"a pod that no longer matches":      {aJob().Obj(), aPod("p").With(unmatched).Obj(), false, false, true},
		"an unmatched pod of a deleted Job": {deleting, aPod("p").With(unmatched).Obj(), true, false, false},
		"an orphan":                         {aJob().Obj(), aPod("p").OwnerReferences().Obj(), false, true, false},
		"an orphan that does not match":     {aJob().Obj(), aPod("p").OwnerReferences().With(unmatched).Obj(), false, false, false},
		"an orphan that is being deleted":   {aJob().Obj(), aPod("p").OwnerReferences().DeletionTimestamp(at(0)).Obj(), false, false, false},
		"an orphan, for a deleted Job":      {deleting, aPod("p").OwnerReferences().Obj(), false, false, false},
		"a matching pod of another owner":   {aJob().Obj(), aPod("p").With(other).Obj(), false, false, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v := newView(observed(tt.job, tt.pod))
			if owns, adopts, releases := len(v.owned) == 1, len(v.adopt) == 1, len(v.release) == 1; owns != tt.owns || adopts != tt.adopts || releases != tt.releases {
				t.Errorf("owns %v, adopts %v, releases %v", owns, adopts, releases)
			}
		})
	}
}
