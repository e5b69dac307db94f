package job

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	core "github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/test/wrappers"
)

// drawPodOf draws a version of one of a few pods, of one of three Jobs.
func drawPodOf(t *rapid.T) *corev1.Pod {
	n := rapid.IntRange(0, 6).Draw(t, "pod")
	job := wrappers.MakeJob("j").UID(types.UID(fmt.Sprint(n % 3))).Obj()
	p := wrappers.MakePodOf(job, "p").UID(types.UID(fmt.Sprint(n)))
	if rapid.Bool().Draw(t, "terminated") {
		p.Exited(0, metav1.Unix(0, 0))
	}
	return p.Obj()
}

func TestLeftPodsAreCountedHoweverOftenTheyAreShown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		left, pods := newLeftPods(1), map[types.UID]*corev1.Pod{}
		t.Repeat(map[string]func(*rapid.T){
			"show":   func(t *rapid.T) { p := drawPodOf(t); left.observe(pods[p.UID], p); pods[p.UID] = p },
			"write":  func(t *rapid.T) { p := drawPodOf(t); left.observe(nil, p); pods[p.UID] = mostLeft(pods[p.UID], p) },
			"remove": func(t *rapid.T) { p := drawPodOf(t); left.observe(p, nil); delete(pods, p.UID) },
			"forget": func(t *rapid.T) {
				job := types.UID(fmt.Sprint(rapid.IntRange(0, 2).Draw(t, "job")))
				left.forget(job)
				for uid, p := range pods {
					if controllerOf(p) == job {
						delete(pods, uid)
					}
				}
			},
			"": func(t *rapid.T) {
				for _, job := range []types.UID{"0", "1", "2"} {
					if got, want := left.count(job), countLeft(pods, job); got != want {
						t.Fatalf("Job %s: %+v, want %+v", job, got, want)
					}
				}
			},
		})
	})
}

// mostLeft returns the version of a pod that counts, if one does.
func mostLeft(a, b *corev1.Pod) *corev1.Pod {
	if a != nil && core.IsLeft(a) {
		return a
	}
	return b
}

func countLeft(pods map[types.UID]*corev1.Pod, job types.UID) (n core.TerminatedPods) {
	byJob := map[types.UID]int{}
	for _, p := range pods {
		if core.IsLeft(p) {
			byJob[controllerOf(p)]++
			n.Total++
		}
	}
	for _, k := range byJob {
		n.Most = max(n.Most, k)
	}
	n.OfJob = byJob[job]
	return n
}
