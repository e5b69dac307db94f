package job

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

func withHostname(name string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.Hostname = name }
}

func TestIndexOf(t *testing.T) {
	unowned := func(p *corev1.Pod) { p.OwnerReferences = nil }
	for sentence, test := range map[string]struct {
		pod  *corev1.Pod
		want int
	}{
		"as the Job controller makes it":             {aPod("a", withIndex(1), withHostname("j-1")), 1},
		"the annotation was changed":                 {aPod("a", withIndex(0), withHostname("j-1")), 1},
		"the annotation was removed":                 {aPod("a", withHostname("j-1")), 1},
		"a pod that another has made":                {aPod("a", withIndex(2)), 2},
		"the host name of another":                   {aPod("a", withIndex(2), withHostname("k-1")), 2},
		"a longer name":                              {aPod("a", withIndex(2), withHostname("j-x-1")), 2},
		"a host name that ends in no number":         {aPod("a", withIndex(2), withHostname("j-x")), 2},
		"a Job's name and nothing else":              {aPod("a", withIndex(2), withHostname("j")), 2},
		"a pod without controller":                   {aPod("a", withIndex(2), withHostname("j-1"), unowned), 2},
		"neither":                                    {aPod("a"), noIndex},
		"an annotation that is no number":            {aPod("a", func(p *corev1.Pod) { p.Annotations[batchv1.JobCompletionIndexAnnotation] = "x" }), noIndex},
		"an annotation below zero":                   {aPod("a", withIndex(-1)), noIndex},
		"a host name whose number is beyond any Job": {aPod("a", withIndex(2), withHostname("j-99999999999")), 2},
	} {
		if got := IndexOf(test.pod); got != test.want {
			t.Errorf("%s: %d, want %d", sentence, got, test.want)
		}
	}
}

// kubectl annotate --overwrite on the running pod of index 1 made it a second pod of index 0.
func TestAChangedAnnotationMovesNoPodToAnotherIndex(t *testing.T) {
	job := aJob(withIndexes)
	first := aPod("first", withIndex(0), withHostname("j-0"), running)
	edited := aPod("edited", withIndex(0), withHostname("j-1"), running)
	if d := Decide(seen(job, first, edited)); len(d.Delete) > 0 || len(d.Create) > 0 {
		t.Errorf("deletes %v and creates %v, want neither", d.Delete, d.Create)
	}
	succeeded(edited)
	if next, _ := Decide(seen(job, first, edited)).Status(Outcome{}); next.CompletedIndexes != "1" {
		t.Errorf("completed are %q, want 1", next.CompletedIndexes)
	}
}
