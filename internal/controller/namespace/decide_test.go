package namespace

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
)

type (
	object   = *metav1.ObjectMeta
	content  = Content[object]
	decision = Decision[object]
)

var (
	jobs       = schema.GroupResource{Group: "batch", Resource: "jobs"}
	configMaps = schema.GroupResource{Resource: "configmaps"}
)

func some(r schema.GroupResource, objects ...object) content {
	return content{Resource: r, Objects: objects}
}

func present(name string) object { return &metav1.ObjectMeta{Name: name} }

func deleted(name string, finalizers ...string) object {
	return &metav1.ObjectMeta{Name: name, DeletionTimestamp: &metav1.Time{}, Finalizers: finalizers}
}

// ended is a deleted pod that has terminated and still has finalizers.
func ended(name string, finalizers ...string) object {
	pod := deleted(name, finalizers...)
	pod.DeletionGracePeriodSeconds = ptr.To[int64](0)
	return pod
}

func TestDecide(t *testing.T) {
	cases := map[string]struct {
		given []content
		want  decision
	}{
		"an empty namespace is empty":           {want: decision{Empty: true}},
		"a kind without objects counts nothing": {given: []content{some(jobs)}, want: decision{Empty: true}},
		"pods go before all else": {
			given: []content{some(jobs, present("j")), some(pods, present("p")), some(configMaps, present("c"))},
			want:  decision{Delete: []content{some(pods, present("p"))}},
		},
		"all else waits for pods that take their time": {
			given: []content{some(jobs, present("j")), some(pods, deleted("p"))},
			want:  decision{Waiting: []content{some(pods, deleted("p"))}},
		},
		"all else goes when the pods are gone": {
			given: []content{some(jobs, present("j")), some(pods), some(configMaps, present("c"))},
			want:  decision{Delete: []content{some(jobs, present("j")), some(configMaps, present("c"))}},
		},
		"a pod that has ended and that its Job keeps waits for the Job to go": {
			given: []content{some(jobs, present("j")), some(pods, ended("p", batchv1.JobTrackingFinalizer))},
			want: decision{Delete: []content{some(jobs, present("j"))},
				Waiting: []content{some(pods, ended("p", batchv1.JobTrackingFinalizer))}},
		},
		"but all else waits for one that somebody else keeps": {
			given: []content{some(jobs, present("j")), some(pods, ended("p", batchv1.JobTrackingFinalizer, "example.com/hold"))},
			want:  decision{Waiting: []content{some(pods, ended("p", batchv1.JobTrackingFinalizer, "example.com/hold"))}},
		},
		"and for one that has not ended yet": {
			given: []content{some(jobs, present("j")), some(pods, deleted("p", batchv1.JobTrackingFinalizer))},
			want:  decision{Waiting: []content{some(pods, deleted("p", batchv1.JobTrackingFinalizer))}},
		},
		"nothing is deleted twice": {
			given: []content{some(jobs, deleted("j"), present("k"))},
			want: decision{Delete: []content{some(jobs, present("k"))},
				Waiting: []content{some(jobs, deleted("j"))}},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Decide(c.given)); diff != "" {
				t.Errorf("decision (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEveryNamespaceIsEmptiedPodsFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		left := map[schema.GroupResource][]object{}
		resources := []schema.GroupResource{configMaps, pods, jobs}
		for _, r := range resources {
			for i := range rapid.IntRange(0, 4).Draw(t, r.Resource) {
				left[r] = append(left[r], present(fmt.Sprint(i)))
			}
		}
		for range 100 {
			var contents []content
			for _, r := range resources {
				contents = append(contents, some(r, left[r]...))
			}
			d := Decide(contents)
			if d.Empty {
				return
			}
			for _, c := range d.Delete {
				if c.Resource != pods && len(left[pods]) > 0 {
					t.Fatalf("%v are deleted while there are pods", c.Resource)
				}
				for _, o := range c.Objects {
					o.DeletionTimestamp = &metav1.Time{}
				}
			}
			for _, c := range d.Waiting { // One of those that wait may be removed.
				left[c.Resource] = left[c.Resource][rapid.IntRange(0, 1).Draw(t, "gone"):]
			}
		}
		if len(left[pods])+len(left[jobs])+len(left[configMaps]) > 0 {
			t.Skip("drew no progress")
		}
	})
}

func TestConditions(t *testing.T) {
	cases := map[string]struct {
		left     []content
		failures []error
		want     map[corev1.NamespaceConditionType]string
	}{
		"nothing left, nothing wrong": {want: map[corev1.NamespaceConditionType]string{}},
		"what is left is counted by kind and by finalizer": {
			left: []content{some(pods, deleted("a", "x/y"), deleted("b", "x/y", "m/n")), some(jobs, deleted("c"))},
			want: map[corev1.NamespaceConditionType]string{
				corev1.NamespaceContentRemaining: "SomeResourcesRemain: Some resources are remaining: " +
					"jobs.batch has 1 resource instances, pods. has 2 resource instances",
				corev1.NamespaceFinalizersRemaining: "SomeFinalizersRemain: Some content in the namespace has " +
					"finalizers remaining: m/n in 1 resource instances, x/y in 2 resource instances",
			},
		},
		"what cannot be deleted is told": {
			left:     []content{some(jobs, present("c"))},
			failures: []error{errors.New("no"), errors.New("never")},
			want: map[corev1.NamespaceConditionType]string{
				corev1.NamespaceContentRemaining: "SomeResourcesRemain: Some resources are remaining: " +
					"jobs.batch has 1 resource instances",
				corev1.NamespaceDeletionContentFailure: "ContentDeletionFailed: " +
					"Failed to delete all resource types, 2 remaining: never, no",
			},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := map[corev1.NamespaceConditionType]string{}
			for _, condition := range Conditions(c.left, c.failures) {
				if condition.Status == corev1.ConditionTrue {
					got[condition.Type] = condition.Reason + ": " + condition.Message
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("true conditions (-want +got):\n%s", diff)
			}
		})
	}
}

func TestConditionsAreWrittenOnlyWhenTheyChange(t *testing.T) {
	then, now := metav1.NewTime(time.Unix(1, 0)), metav1.NewTime(time.Unix(2, 0))
	first, changed := merge(nil, Conditions([]content{some(pods, deleted("a"))}, nil), then)
	if !changed || len(first) != len(noProblemConditions) {
		t.Fatalf("the first report must be written whole, got %v", first)
	}
	if _, changed := merge(first, Conditions([]content{some(pods, deleted("b"))}, nil), now); changed {
		t.Error("the same report was written twice")
	}
	more, changed := merge(first, Conditions([]content{some(pods, deleted("a"), deleted("b"))}, nil), now)
	if !changed || more[3].LastTransitionTime != then {
		t.Errorf("another count of the same status must be written and keep its time, got %v", more[3])
	}
	none, changed := merge(more, Conditions[object](nil, nil), now)
	if !changed || none[3].Status != corev1.ConditionFalse || none[3].LastTransitionTime != now {
		t.Errorf("a status that turns must be written with its time, got %v", none[3])
	}
}
