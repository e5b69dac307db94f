package run

import (
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/cli/output"
	"github.com/stint-dev/stint/internal/image/progress"
	"github.com/stint-dev/stint/test/await"
)

// pullsHeard is an output that records pulls.
type pullsHeard struct {
	output.Output
	pulls chan output.Pull
}

func (p pullsHeard) Pull(pull output.Pull) { p.pulls <- pull }

func TestPullsAreShownFromTheNodeOfThePodsThatWait(t *testing.T) {
	heard := pullsHeard{output.NewQuiet(io.Discard, io.Discard, false), make(chan output.Pull, 10)}
	s := newTestSessionThatShows(t, LogsNone, heard)
	node, err := s.core().Nodes().Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "here"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	tells := func(pulls ...progress.Pull) {
		node.Annotations = map[string]string{progress.Annotation: progress.Text(pulls)}
		if node, err = s.core().Nodes().Update(t.Context(), node, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	w := newWaits()
	s.follower.jobs.byUID["u"] = &trackedJob{job: &batchv1.Job{}, waitingPods: w}
	hear := func() output.Pull {
		var got output.Pull
		await.Until(t, "a pull is told of", func() bool {
			s.follower.pulls.print(t.Context())
			select {
			case got = <-heard.pulls:
				return true
			default:
				return false
			}
		})
		return got
	}
	is := progress.Pull{Image: "a:1", Done: 34, Total: 120}
	tells(is, progress.Pull{Image: "of-another-run", Total: 1})
	for _, name := range []string{"p", "q"} {
		w.observe(podThat(name, "ContainerCreating", progress.Message("a:1")), false)
	}
	if got := hear(); got.Pull != is || got.Ended {
		t.Errorf("told %+v", got)
	}
	is.Done = 60
	tells(is)
	if got := hear(); got.Pull != is || got.Ended {
		t.Errorf("told %+v", got)
	}
	w.observe(running("p"), false)
	w.observe(podThat("q", "ContainerCreating", ""), false)
	if got := hear(); got.Done != 120 || !got.Ended || !got.Arrived {
		t.Errorf("told %+v", got)
	}
}

func TestHowPullsEnd(t *testing.T) {
	for sentence, tc := range map[string]struct {
		then *corev1.Pod
		gone bool
		want bool
	}{
		"the pod runs":             {running("p"), false, true},
		"the pod has run":          {ended("p"), true, true},
		"the pod is being started": {podThat("p", "ContainerCreating", ""), false, true},
		"the pull fails":           {podThat("p", "ErrImagePull", "no such image"), false, false},
		"the pod goes":             {podThat("p", "ContainerCreating", progress.Message("a:1")), true, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			w := newWaits()
			s := &pulls{jobs: &tracker{byUID: map[types.UID]*trackedJob{"u": {waitingPods: w}}}, byImage: map[string]*pull{}, asking: true}
			now := time.Now()
			w.observe(podThat("p", "ContainerCreating", progress.Message("a:1")), false)
			if changed := s.changes(t.Context(), now); changed != nil {
				t.Errorf("shown %v before the node has reported it", changed)
			}
			s.byImage["a:1"].printed = progress.Pull{Image: "a:1", Done: 5, Total: 9}
			s.byImage["a:1"].found = s.byImage["a:1"].printed
			w.observe(tc.then, tc.gone)
			end := output.Pull{Pull: progress.Pull{Image: "a:1", Done: 5, Total: 9}, At: now.Add(time.Minute), Took: time.Minute, Ended: true}
			if tc.want {
				end.Arrived, end.Done = true, 9
			}
			if diff := cmp.Diff([]output.Pull{end}, s.changes(t.Context(), now.Add(time.Minute))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func ended(name string) *corev1.Pod {
	pod := running(name)
	pod.Status.Phase = corev1.PodSucceeded
	return pod
}
