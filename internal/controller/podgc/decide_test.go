package podgc

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/stint-dev/stint/test/wrappers"
)

// named are Nodes by their names.
type named []string

func (n named) Any() bool            { return len(n) > 0 }
func (n named) Has(name string) bool { return slices.Contains(n, name) }

func aPod() *wrappers.PodWrapper { return wrappers.MakePod("p") }

func deletedWith(grace int64) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = ptr.To(metav1.Now()), ptr.To(grace)
	}
}

func TestLost(t *testing.T) {
	here := named{"here"}
	for sentence, c := range map[string]struct {
		pod   *wrappers.PodWrapper
		nodes named
		want  Reason
	}{
		"a pod on a node stays":                            {aPod().NodeName("here").Running(), here, Keep},
		"one whose node is gone does not":                  {aPod().NodeName("gone").Running(), here, Orphaned},
		"neither if it has terminated":                     {aPod().NodeName("gone").Phase(corev1.PodSucceeded), here, Orphaned},
		"neither if it is told to end":                     {aPod().NodeName("gone").Running().With(deletedWith(30)), here, Orphaned},
		"without any node, none is gone":                   {aPod().NodeName("gone").Running(), nil, Keep},
		"a pod without a node waits for one":               {aPod(), here, Keep},
		"but not if it is deleted":                         {aPod().With(deletedWith(0)), here, Unscheduled},
		"also if there is no node":                         {aPod().With(deletedWith(0)), nil, Unscheduled},
		"one with a grace period runs, and is not bound":   {aPod().With(deletedWith(30)), here, Keep},
		"a pod that has ended waits for finalizers only":   {aPod().Phase(corev1.PodFailed).With(deletedWith(0)), here, Keep},
		"neither does it wait for a node that is gone":     {aPod().NodeName("gone").Phase(corev1.PodFailed).With(deletedWith(0)), here, Keep},
		"a pod that its node ends is left to the node":     {aPod().NodeName("here").Running().With(deletedWith(0)), here, Keep},
		"a running pod without a grace period has no node": {aPod().NodeName("gone").Running().With(deletedWith(0)), here, Orphaned},
	} {
		if got := Lost(c.pod.Obj(), c.nodes); got != c.want {
			t.Errorf("%s: %q, want %q", sentence, got, c.want)
		}
	}
}

func TestWhichPodsAreBounded(t *testing.T) {
	for sentence, c := range map[string]struct {
		pod  *wrappers.PodWrapper
		want bool
	}{
		"one that has succeeded":                  {aPod().Phase(corev1.PodSucceeded), true},
		"one that has failed":                     {aPod().Phase(corev1.PodFailed), true},
		"none that runs":                          {aPod().Running(), false},
		"none that is to be counted":              {aPod().Phase(corev1.PodFailed).Finalizers(batchv1.JobTrackingFinalizer), false},
		"one with another controller's finalizer": {aPod().Phase(corev1.PodFailed).Finalizers("example.com/f"), true},
		"but only once, as that keeps the pod":    {aPod().Phase(corev1.PodFailed).Finalizers("example.com/f").With(deletedWith(0)), false},
	} {
		if got := isBounded(c.pod.Obj()); got != c.want {
			t.Errorf("%s: %t", sentence, got)
		}
	}
}

func drawTerminated(t *rapid.T) *corev1.Pod {
	n := rapid.IntRange(0, 12).Draw(t, "pod")
	p := wrappers.MakePod(fmt.Sprint("p", n)).UID(types.UID(fmt.Sprint(n))).
		CreationTimestamp(metav1.Unix(int64(rapid.IntRange(0, 4).Draw(t, "created")), 0)).Phase(corev1.PodFailed).Obj()
	if rapid.IntRange(0, 3).Draw(t, "evicted") == 3 {
		p.Status.Reason = "Evicted"
	}
	return p
}

func TestTheOldestAreTaken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		held, pods := newByAge(), map[types.UID]*corev1.Pod{}
		t.Repeat(map[string]func(*rapid.T){
			"put":    func(t *rapid.T) { p := drawTerminated(t); held.put(p); pods[p.UID] = p },
			"remove": func(t *rapid.T) { p := drawTerminated(t); held.remove(p.UID); delete(pods, p.UID) },
			"take": func(t *rapid.T) {
				n := rapid.IntRange(0, 8).Draw(t, "n")
				var want []string
				for _, p := range byEvictionAndAge(pods)[:max(0, len(pods)-n)] {
					want = append(want, p.Name)
					delete(pods, p.UID)
				}
				var got []string
				for _, p := range held.takeBeyond(n) {
					got = append(got, p.Name)
				}
				if diff := gocmp.Diff(want, got); diff != "" || len(held.known) != len(pods) {
					t.Fatalf("%d held, want %d; taken (-want +got):\n%s", len(held.known), len(pods), diff)
				}
			},
		})
	})
}

func byEvictionAndAge(pods map[types.UID]*corev1.Pod) (list []*corev1.Pod) {
	age := func(p *corev1.Pod) string {
		others := "b"
		if p.Status.Reason == "Evicted" {
			others = "a"
		}
		return others + p.CreationTimestamp.UTC().Format(time.RFC3339) + p.Name
	}
	for _, p := range pods {
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b *corev1.Pod) int { return cmp.Compare(age(a), age(b)) })
	return list
}
