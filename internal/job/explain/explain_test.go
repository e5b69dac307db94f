package explain

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/test/wrappers"
)

var update = flag.Bool("update", false, "write golden files")

// TestExplain compares the explanation of each case with a golden file. internal/cli/why shows these files as text.
func TestExplain(t *testing.T) {
	shown := sets.New[stintv1.JobState]()
	files := sets.New[string]()
	for sentence, c := range explanations() {
		got := Job(c.obs, c.about)
		shown.Insert(got.State)
		file := strings.ReplaceAll(sentence, " ", "-") + ".golden"
		files.Insert(file)
		t.Run(sentence, func(t *testing.T) {
			if got.State != c.state {
				t.Errorf("state %s, want %s", got.State, c.state)
			}
			if len(got.Next) == 0 {
				t.Error("it does not say what happens next")
			}
			golden(t, filepath.Join("testdata", file), got)
		})
	}
	for _, s := range (&topics{}).states() {
		if !shown.Has(s.name) {
			t.Errorf("no golden file shows the state %s", s.name)
		}
	}
	there, _ := filepath.Glob("testdata/*.golden")
	for _, path := range there {
		if !files.Has(filepath.Base(path)) {
			t.Errorf("%s is of no case", path)
		}
	}
}

func golden(t *testing.T, path string, got stintv1.JobExplanation) {
	t.Helper()
	text, err := yaml.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(text)); diff != "" {
		t.Errorf("-want +got (go test ./internal/job/explain ./internal/cli/why -update):\n%s", diff)
	}
}

type explanation struct {
	obs   job.Observation
	about Circumstances
	state stintv1.JobState
}

func explained(state stintv1.JobState, j *wrappers.JobWrapper, with ...*wrappers.PodWrapper) explanation {
	var pods []*corev1.Pod
	for _, p := range with {
		pods = append(pods, p.Obj())
	}
	return explanation{obs: job.ObserveStored(j.Obj(), pods, epoch.Add(time.Minute), job.DefaultSettings()), state: state}
}

// with changes the observation and the circumstances.
func (e explanation) with(change func(*job.Observation, *Circumstances)) explanation {
	change(&e.obs, &e.about)
	return e
}

func withManager(manager string, field string, seconds int) func(*batchv1.Job) {
	return func(j *batchv1.Job) {
		j.ManagedFields = append(j.ManagedFields, metav1.ManagedFieldsEntry{Manager: manager, Time: ptr.To(at(seconds)),
			FieldsV1: metav1.NewFieldsV1(field)})
	}
}

func ending(deleted, grace int) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = ptr.To(at(deleted+grace)), ptr.To(int64(grace))
	}
}

func unscheduled(name, reason, message string) *wrappers.PodWrapper {
	return aPod(name).Conditions(corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionFalse,
		Reason: reason, Message: message, LastTransitionTime: at(5)})
}

func stuckFor(name, reason, message string) *wrappers.PodWrapper {
	return aPod(name).NodeName("n1").
		ContainerStatuses(corev1.ContainerStatus{Name: "c", State: wrappers.Waiting(reason, message)})
}

func aClaim(name string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), CreationTimestamp: at(1)}}
}

func result(pod string, code int32, seconds int) stintv1.PodResult {
	return stintv1.PodResult{Pod: pod, Phase: corev1.PodFailed, Container: "c", ExitCode: &code, Reason: "Error", Node: "n1",
		StartedAt: ptr.To(at(seconds - 1)), FinishedAt: ptr.To(at(seconds))}
}

func refusedEvent(message string) corev1.Event {
	return corev1.Event{InvolvedObject: corev1.ObjectReference{UID: "job-uid"}, Type: corev1.EventTypeWarning, Reason: "FailedCreate",
		Message: message, FirstTimestamp: at(3), LastTimestamp: at(40), Count: 5}
}

// explanations are the cases, most of them states.
func explanations() map[string]explanation {
	cases := map[string]explanation{}
	for _, some := range []func() map[string]explanation{explanationsOfBeginnings, explanationsOfWork, explanationsOfPods, explanationsOfEnds} {
		for sentence, c := range some() {
			cases[sentence] = c
		}
	}
	return cases
}
