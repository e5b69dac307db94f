package job_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/internal/job/explain"
)

// TestExplanationsAgreeWithDecisions drives random Jobs through random histories, as TestAnyHistory does. What an
// explanation says happens next is what job.Decide does, now or at the time that is said.
func TestExplanationsAgreeWithDecisions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j := job.DrawJob(t)
		j.Annotations = map[string]string{}
		if rapid.Bool().Draw(t, "backoff") {
			j.Annotations[job.BackoffSeconds] = strconv.Itoa(rapid.IntRange(0, 100).Draw(t, "backoffSeconds"))
		}
		if rapid.Bool().Draw(t, "pending timeout") {
			j.Annotations[job.PendingTimeoutSeconds] = strconv.Itoa(rapid.IntRange(1, 500).Draw(t, "pendingTimeoutSeconds"))
		}
		var others []job.Dependency
		if rapid.Bool().Draw(t, "depends on others") {
			others = job.DrawDependencies(t)
			j.Annotations[job.DependsOn] = "a, b=Finished"
		}
		var about explain.Circumstances
		job.AnyHistory(t, j, map[string]func(*rapid.T){
			"the others go on":            func(t *rapid.T) { others = job.DrawDependencies(t) },
			"the server refuses pods":     func(*rapid.T) { about.Events = []corev1.Event{refusal(j)} },
			"the server makes pods again": func(*rapid.T) { about.Events = nil },
		}, func(t *rapid.T, obs job.Observation) {
			obs.Dependencies = others
			checkExplanation(t, obs, about)
		})
	})
}

func refusal(j *batchv1.Job) corev1.Event {
	return corev1.Event{InvolvedObject: corev1.ObjectReference{UID: j.UID}, Type: corev1.EventTypeWarning, Reason: "FailedCreate",
		Message: "exceeded quota", FirstTimestamp: metav1.Unix(1_700_000_003, 0), LastTimestamp: metav1.Unix(1_700_000_040, 0), Count: 5}
}

// waitingStates are those in which a Job gets no pods.
var waitingStates = []stintv1.JobState{stintv1.JobDeleting, stintv1.JobComplete, stintv1.JobFailed, stintv1.JobUnknownMode,
	stintv1.JobCompleting, stintv1.JobFailing, stintv1.JobHeld, stintv1.JobSuspended, stintv1.JobWaitingForJobs,
	stintv1.JobScalingDown, stintv1.JobDelayed, stintv1.JobReplacing, stintv1.JobPaused}

func checkExplanation(t *rapid.T, obs job.Observation, about explain.Circumstances) {
	x := explain.Job(obs, about)
	shuffled := obs
	shuffled.Pods = slices.Clone(obs.Pods)
	slices.Reverse(shuffled.Pods)
	if diff := cmp.Diff(x, explain.Job(shuffled, about)); diff != "" {
		t.Fatalf("the order of pods changes the explanation:\n%s", diff)
	}
	if job.Finished(obs.Job) {
		checkFinished(t, obs, x)
		return
	}
	d := job.Decide(obs)
	creates := slices.ContainsFunc(x.Next, func(s stintv1.JobStep) bool {
		return s.At == nil && (strings.HasPrefix(s.What, "gets ") || strings.HasPrefix(s.What, "tries again to create pods"))
	})
	if creates != (len(d.Create) > 0) {
		t.Fatalf("%s (%s), next %v: job.Decide creates %d pods", x.State, x.Summary, x.Next, len(d.Create))
	}
	if slices.Contains(waitingStates, x.State) && len(d.Create) > 0 {
		t.Fatalf("%s (%s): job.Decide creates %d pods", x.State, x.Summary, len(d.Create))
	}
	checkVerdict(t, obs, x, d)
	for _, w := range x.Waits {
		if w.For == stintv1.WaitForDelay {
			checkDelay(t, obs, x, w)
		}
	}
	for _, s := range x.Next {
		if s.At != nil {
			checkStep(t, obs, s)
		}
	}
}

func checkFinished(t *rapid.T, obs job.Observation, x stintv1.JobExplanation) {
	if obs.Job.DeletionTimestamp == nil && string(x.State) != string(job.End(obs.Job).Type) {
		t.Fatalf("%s: the Job is %s", x.State, job.End(obs.Job).Type)
	}
}

// checkVerdict compares with the status that job.Decide is about to store.
func checkVerdict(t *rapid.T, obs job.Observation, x stintv1.JobExplanation, d job.Decision) {
	if obs.Job.DeletionTimestamp != nil {
		return
	}
	for state, kind := range map[stintv1.JobState]batchv1.JobConditionType{
		stintv1.JobFailing: batchv1.JobFailureTarget, stintv1.JobCompleting: batchv1.JobSuccessCriteriaMet,
	} {
		c := next(d, kind)
		if (c != nil) != (x.State == state) {
			t.Fatalf("%s (%s): the next status has %s %v", x.State, x.Summary, kind, c != nil)
		}
		if c != nil && !strings.Contains(x.Summary, c.Reason) {
			t.Fatalf("%s (%s): the verdict is %s", x.State, x.Summary, c.Reason)
		}
	}
	hasVerdict := x.State == stintv1.JobFailing || x.State == stintv1.JobCompleting
	if !hasVerdict && ptr.Deref(obs.Job.Spec.Suspend, false) != (x.State == stintv1.JobSuspended) {
		t.Fatalf("%s: suspended %v", x.State, ptr.Deref(obs.Job.Spec.Suspend, false))
	}
	if removes := len(d.DeleteWithoutCounting) > 0 && !hasVerdict && !ptr.Deref(obs.Job.Spec.Suspend, false); removes != (x.State == stintv1.JobScalingDown) {
		t.Fatalf("%s (%s): job.Decide deletes %d pods", x.State, x.Summary, len(d.DeleteWithoutCounting))
	}
}

// checkDelay expects pods to be created when the delay is over, and no more than now before that.
func checkDelay(t *rapid.T, obs job.Observation, x stintv1.JobExplanation, w stintv1.JobWait) {
	before, after := obs, obs
	before.Now, after.Now = w.Until.Add(-time.Nanosecond), w.Until.Time
	now, early, late := job.Decide(obs), job.Decide(before), job.Decide(after)
	if len(early.Create) > len(now.Create) && setsVerdict(early) == setsVerdict(now) {
		t.Fatalf("%s: %d pods are created before the delay is over", x.Summary, len(early.Create))
	}
	if len(late.Create) <= len(early.Create) && !setsVerdict(late) {
		t.Fatalf("%s: no pod is created when the delay is over", x.Summary)
	}
}

func setsVerdict(d job.Decision) bool {
	return next(d, batchv1.JobFailureTarget) != nil || next(d, batchv1.JobSuccessCriteriaMet) != nil
}

// next returns the condition of that type in the next status if it is true, nil otherwise.
func next(d job.Decision, kind batchv1.JobConditionType) *batchv1.JobCondition {
	conditions := job.Next(d).Conditions
	i := slices.IndexFunc(conditions, func(c batchv1.JobCondition) bool { return c.Type == kind && c.Status == corev1.ConditionTrue })
	if i < 0 {
		return nil
	}
	return &conditions[i]
}

// checkStep expects job.Decide to do what a step says, at its time and not before.
func checkStep(t *rapid.T, obs job.Observation, s stintv1.JobStep) {
	before, after := obs, obs
	before.Now, after.Now = s.At.Add(-time.Nanosecond), s.At.Time
	if before.Now.Before(obs.Now) {
		before.Now = obs.Now
	}
	early, late := job.Decide(before), job.Decide(after)
	switch {
	case setsVerdict(early):
	case strings.Contains(s.What, "activeDeadlineSeconds"):
		if !setsVerdict(late) {
			t.Fatalf("the Job goes on past %s", s.What)
		}
	case strings.Contains(s.What, job.PendingTimeoutSeconds):
		over := !s.At.After(obs.Now)
		if fails := len(late.FailPending) + len(late.DeleteWithoutCounting); !setsVerdict(late) && (fails == 0 || !over && fails <= len(early.FailPending)) {
			t.Fatalf("no pod is failed: %s", s.What)
		}
	}
}
