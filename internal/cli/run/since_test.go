package run

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/cli/manifest"
	"github.com/stint-dev/stint/internal/cli/output"
	"github.com/stint-dev/stint/test/wrappers"
)

// endings is an output that records results and log lines.
type endings struct {
	output.Output
	results chan output.Result
	lines   chan string
}

func (o endings) Finish(r output.Result) { o.results <- r }

func (o endings) Log(l output.Line) { o.lines <- string(l.Text) }

func newEndings() endings {
	return endings{output.NewQuiet(io.Discard, io.Discard, false), make(chan output.Result, 10), make(chan string, 10)}
}

// end writes the status of a finished Job, as its controller would.
func end(t *testing.T, s *session, job *batchv1.Job, kind batchv1.JobConditionType) {
	t.Helper()
	first, reason := batchv1.JobSuccessCriteriaMet, ""
	if kind == batchv1.JobFailed {
		first, reason = batchv1.JobFailureTarget, batchv1.JobReasonBackoffLimitExceeded
	}
	now := metav1.Now()
	for _, c := range []batchv1.JobConditionType{first, kind} {
		var err error
		job.Status.StartTime = &now
		job.Status.Conditions = append(job.Status.Conditions, batchv1.JobCondition{Type: c, Status: corev1.ConditionTrue,
			Reason: reason, LastTransitionTime: now, LastProbeTime: now})
		if c == batchv1.JobComplete {
			job.Status.CompletionTime = &now
		}
		if job, err = s.batch().Jobs(job.Namespace).UpdateStatus(t.Context(), job, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestOutcomeOfAJobThatIsGoneBeforeTheWatchBegins(t *testing.T) {
	out := newEndings()
	s := newTestSessionThatShows(t, LogsNone, out)
	for sentence, tc := range map[string]struct {
		end     batchv1.JobConditionType
		outcome output.Outcome
		err     error
	}{
		"it completed":              {batchv1.JobComplete, output.Complete, nil},
		"it failed":                 {batchv1.JobFailed, output.Failed, ErrFailed},
		"it was deleted unfinished": {"", output.Deleted, ErrFailed},
	} {
		t.Run(sentence, func(t *testing.T) {
			s.follower.jobs.forget()
			job := createUnmanaged(t, s, "brief")
			s.follower.track(job, output.Created, 0)
			if tc.end != "" {
				end(t, s, job.DeepCopy(), tc.end)
			}
			remove(t, s, job)
			if err := s.follower.follow(t.Context(), false); !errors.Is(err, tc.err) {
				t.Errorf("the run ended with %v, want %v", err, tc.err)
			}
			got := <-out.results
			want := output.Result{Job: output.Job{Namespace: "default", Name: "brief"}, Outcome: tc.outcome}
			if diff := cmp.Diff(want, output.Result{Job: got.Job, Outcome: got.Outcome, Unseen: got.Unseen}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// forget removes all Jobs for the next test case.
func (r *tracker) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.byUID)
}

// createUnmanaged creates a Job that no controller manages.
func createUnmanaged(t *testing.T, s *session, name string) *batchv1.Job {
	t.Helper()
	job := suspendedJob(name)
	job.Spec.ManagedBy, job.Spec.Suspend = ptr.To("example.com/nobody"), ptr.To(false)
	created, err := s.batch().Jobs("default").Create(t.Context(), job, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return created
}

// remove deletes a Job and waits until it is gone.
func remove(t *testing.T, s *session, job *batchv1.Job) {
	t.Helper()
	if err := s.submitter.deleteAndWait(t.Context(), job); err != nil {
		t.Fatal(err)
	}
}

func TestLogsOfAJobThatIsGoneBeforeTheWatchBegins(t *testing.T) {
	out := newEndings()
	s := newTestSessionThatShows(t, LogsAll, out)
	s.follower.pods.begin(t.Context(), nil)
	brief := suspendedJob("brief")
	brief.Spec.TTLSecondsAfterFinished = ptr.To[int32](0)
	if err := s.follower.watcher.markPods(t.Context(), []*plan{{object: &manifest.Object{Typed: brief}, job: brief, how: output.Created}}); err != nil {
		t.Fatal(err)
	}
	job := createUnmanaged(t, s, "brief")
	s.follower.track(job, output.Created, 0)
	runPod(t, s, job, "last words")
	done := job.DeepCopy()
	done.Status.Succeeded = 1
	end(t, s, done, batchv1.JobComplete)
	remove(t, s, job)
	if err := s.follower.follow(t.Context(), false); err != nil {
		t.Errorf("the run ended with %v", err)
	}
	select {
	case line := <-out.lines:
		if line != "last words" {
			t.Errorf("the log says %q", line)
		}
	default:
		t.Error("no log was shown")
	}
}

// runPod creates a pod of the Job that has printed one line and succeeded, and deletes it.
func runPod(t *testing.T, s *session, job *batchv1.Job, line string) {
	t.Helper()
	name := endPod(t, s, job, line)
	if err := s.core().Pods(job.Namespace).Delete(t.Context(), name, metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}); err != nil {
		t.Fatal(err)
	}
}

// endPod creates a pod of the Job that has printed one line and succeeded, and returns its name.
func endPod(t *testing.T, s *session, job *batchv1.Job, line string) string {
	t.Helper()
	pods := s.core().Pods(job.Namespace)
	pod, err := pods.Create(t.Context(), wrappers.MakePodOf(job, job.Name+"-x").Obj(), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(s.opts.Target.DataDir, "logs", pod.Namespace+"_"+pod.Name+"_"+string(pod.UID), "main", "0.log")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("2030-01-01T00:00:00.000000000Z stdout F "+line+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	pod.Status.Phase = corev1.PodSucceeded
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main",
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}}}
	if _, err = pods.UpdateStatus(t.Context(), pod, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	return pod.Name
}

func TestOutcomeOfEvents(t *testing.T) {
	for sentence, tc := range map[string]struct {
		kind, reason string
		want         batchv1.JobConditionType
	}{
		"it completed":                          {corev1.EventTypeNormal, "Completed", batchv1.JobComplete},
		"it failed":                             {corev1.EventTypeWarning, batchv1.JobReasonBackoffLimitExceeded, batchv1.JobFailed},
		"another Job on which it waited failed": {corev1.EventTypeWarning, "DependencyFailed", batchv1.JobFailed},
		"a pod could not be made":               {corev1.EventTypeWarning, "FailedCreate", ""},
		"a pod was made":                        {corev1.EventTypeNormal, "SuccessfulCreate", ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := endToldBy(&corev1.Event{Type: tc.kind, Reason: tc.reason}); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestOutcomeOfAJobDeletedUnobservedComesFromItsEvents(t *testing.T) {
	out := newEndings()
	s := newTestSessionThatShows(t, LogsNone, out)
	s.moved = true
	job := createUnmanaged(t, s, "brief")
	s.follower.track(job, output.Created, 0)
	_, err := s.core().Events("default").Create(t.Context(), &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: "brief.1"},
		InvolvedObject: corev1.ObjectReference{Kind: "Job", Namespace: "default", Name: job.Name, UID: job.UID},
		Type:           corev1.EventTypeNormal, Reason: "Completed", Message: "Job completed", LastTimestamp: metav1.Now(),
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	remove(t, s, job)
	if err := s.follower.follow(t.Context(), false); err != nil {
		t.Errorf("the run ended with %v", err)
	}
	if got := <-out.results; got.Outcome != output.Complete {
		t.Errorf("outcome %s", got.Outcome)
	}
}
