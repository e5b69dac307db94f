package job

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

func TestIndexOf(t *testing.T) {
	for sentence, test := range map[string]struct {
		pod  *corev1.Pod
		want int
	}{
		"as the Job controller makes it":             {aPod("a").Index(1).Hostname("j-1").Obj(), 1},
		"the annotation was changed":                 {aPod("a").Index(0).Hostname("j-1").Obj(), 1},
		"the annotation was removed":                 {aPod("a").Hostname("j-1").Obj(), 1},
		"a pod that another has made":                {aPod("a").Index(2).Obj(), 2},
		"the host name of another":                   {aPod("a").Index(2).Hostname("k-1").Obj(), 2},
		"a longer name":                              {aPod("a").Index(2).Hostname("j-x-1").Obj(), 2},
		"a host name that ends in no number":         {aPod("a").Index(2).Hostname("j-x").Obj(), 2},
		"a Job's name and nothing else":              {aPod("a").Index(2).Hostname("j").Obj(), 2},
		"a pod without controller":                   {aPod("a").Index(2).Hostname("j-1").OwnerReferences().Obj(), 2},
		"neither":                                    {aPod("a").Obj(), noIndex},
		"an annotation that is no number":            {aPod("a").Annotation(batchv1.JobCompletionIndexAnnotation, "x").Obj(), noIndex},
		"an annotation below zero":                   {aPod("a").Index(-1).Obj(), noIndex},
		"a host name whose number is beyond any Job": {aPod("a").Index(2).Hostname("j-99999999999").Obj(), 2},
	} {
		if got := IndexOf(test.pod); got != test.want {
			t.Errorf("%s: %d, want %d", sentence, got, test.want)
		}
	}
}

// Once, kubectl annotate --overwrite on the running pod of index 1 made it a second pod of index 0.
func TestAChangedAnnotationMovesNoPodToAnotherIndex(t *testing.T) {
	job := aJob().Indexed().Obj()
	first := aPod("first").Index(0).Hostname("j-0").Running().Obj()
	edited := aPod("edited").Index(0).Hostname("j-1")
	if d := Decide(observed(job, first, edited.Running().Obj())); len(d.Delete) > 0 || len(d.Create) > 0 {
		t.Errorf("deletes %v and creates %v, want neither", d.Delete, d.Create)
	}
	if next, _ := Decide(observed(job, first, edited.Exited(0, at(0)).Obj())).Status(Outcome{}); next.CompletedIndexes != "1" {
		t.Errorf("completed are %q, want 1", next.CompletedIndexes)
	}
}
