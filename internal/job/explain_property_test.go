package job

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// TestExplanationsAgreeWithDecisions drives random Jobs through random histories, as TestAnyHistory does. What an
// explanation says happens next is what Decide does, now or at the time that is said.
func TestExplanationsAgreeWithDecisions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j := drawJob(t)
		j.Annotations = map[string]string{}
		if rapid.Bool().Draw(t, "backoff") {
			j.Annotations[BackoffSeconds] = strconv.Itoa(rapid.IntRange(0, 100).Draw(t, "backoffSeconds"))
		}
		if rapid.Bool().Draw(t, "pending timeout") {
			j.Annotations[PendingTimeoutSeconds] = strconv.Itoa(rapid.IntRange(1, 500).Draw(t, "pendingTimeoutSeconds"))
		}
		var others []Dependency
		if rapid.Bool().Draw(t, "depends on others") {
			others = drawDependencies(t)
			j.Annotations[DependsOn] = "a, b=Finished"
		}
		var about Circumstances
		w := newWorld(t, j)
		actions := w.actions()
		actions["the others go on"] = func(t *rapid.T) { others = drawDependencies(t) }
		actions["the server refuses pods"] = func(*rapid.T) { about.Events = []corev1.Event{refusedEvent("exceeded quota")} }
		actions["the server makes pods again"] = func(*rapid.T) { about.Events = nil }
		actions[""] = func(t *rapid.T) {
			obs := w.observation()
			obs.Dependencies = others
			checkExplanation(t, obs, about)
		}
		t.Repeat(actions)
	})
}

func drawDependencies(t *rapid.T) []Dependency {
	standings := []func(name string) Dependency{
		absent,
		func(name string) Dependency { return dependency(name) },
		func(name string) Dependency { return dependency(name, withSuspend) },
		func(name string) Dependency { return dependency(name, withDeletion) },
		func(name string) Dependency { return dependency(name, complete) },
		func(name string) Dependency { return dependency(name, failing) },
		func(name string) Dependency { return cyclic(name, name, "j") },
	}
	return []Dependency{
		rapid.SampledFrom(standings).Draw(t, "a")("a"),
		rapid.SampledFrom(standings).Draw(t, "b")("b"),
	}
}

// waitingStates are those in which a Job gets no pods.
var waitingStates = []stintv1.JobState{stintv1.JobDeleting, stintv1.JobComplete, stintv1.JobFailed, stintv1.JobUnknownMode,
	stintv1.JobCompleting, stintv1.JobFailing, stintv1.JobHeld, stintv1.JobSuspended, stintv1.JobWaitingForJobs,
	stintv1.JobScalingDown, stintv1.JobDelayed, stintv1.JobReplacing, stintv1.JobPaused}

func checkExplanation(t *rapid.T, obs Observation, about Circumstances) {
	x := Explain(obs, about)
	shuffled := obs
	shuffled.Pods = slices.Clone(obs.Pods)
	slices.Reverse(shuffled.Pods)
	if diff := cmp.Diff(x, Explain(shuffled, about)); diff != "" {
		t.Fatalf("the order of pods changes the explanation:\n%s", diff)
	}
	if Finished(obs.Job) {
		checkFinished(t, obs, x)
		return
	}
	d := Decide(obs)
	creates := slices.ContainsFunc(x.Next, func(s stintv1.JobStep) bool {
		return s.At == nil && (strings.HasPrefix(s.What, "gets ") || strings.HasPrefix(s.What, "asks the server again"))
	})
	if creates != (len(d.Create) > 0) {
		t.Fatalf("%s (%s), next %v: Decide creates %d pods", x.State, x.Summary, x.Next, len(d.Create))
	}
	if slices.Contains(waitingStates, x.State) && len(d.Create) > 0 {
		t.Fatalf("%s (%s): Decide creates %d pods", x.State, x.Summary, len(d.Create))
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

func checkFinished(t *rapid.T, obs Observation, x stintv1.JobExplanation) {
	if obs.Job.DeletionTimestamp == nil && string(x.State) != string(End(obs.Job).Type) {
		t.Fatalf("%s: the Job is %s", x.State, End(obs.Job).Type)
	}
}

// checkVerdict compares with the status that Decide is about to store.
func checkVerdict(t *rapid.T, obs Observation, x stintv1.JobExplanation, d Decision) {
	if obs.Job.DeletionTimestamp != nil {
		return
	}
	for state, kind := range map[stintv1.JobState]batchv1.JobConditionType{
		stintv1.JobFailing: batchv1.JobFailureTarget, stintv1.JobCompleting: batchv1.JobSuccessCriteriaMet,
	} {
		c := condition(d.next.Conditions, kind)
		if isTrue(c) != (x.State == state) {
			t.Fatalf("%s (%s): the next status has %s %v", x.State, x.Summary, kind, isTrue(c))
		}
		if isTrue(c) && !strings.Contains(x.Summary, c.Reason) {
			t.Fatalf("%s (%s): the verdict is %s", x.State, x.Summary, c.Reason)
		}
	}
	settled := x.State == stintv1.JobFailing || x.State == stintv1.JobCompleting
	if !settled && suspended(obs.Job) != (x.State == stintv1.JobSuspended) {
		t.Fatalf("%s: suspended %v", x.State, suspended(obs.Job))
	}
	if removes := len(d.Discard) > 0 && !settled && !suspended(obs.Job); removes != (x.State == stintv1.JobScalingDown) {
		t.Fatalf("%s (%s): Decide discards %d pods", x.State, x.Summary, len(d.Discard))
	}
}

// checkDelay expects pods from when the delay is over, and for a Job that gets none none before.
func checkDelay(t *rapid.T, obs Observation, x stintv1.JobExplanation, w stintv1.JobWait) {
	before, after := obs, obs
	before.Now, after.Now = w.Until.Add(-time.Nanosecond), w.Until.Time
	now, early, late := Decide(obs), Decide(before), Decide(after)
	if len(early.Create) > len(now.Create) && settles(early) == settles(now) {
		t.Fatalf("%s: %d pods are created before the delay is over", x.Summary, len(early.Create))
	}
	if len(late.Create) <= len(early.Create) && !settles(late) {
		t.Fatalf("%s: no pod is created when the delay is over", x.Summary)
	}
}

func settles(d Decision) bool {
	return isTrue(condition(d.next.Conditions, batchv1.JobFailureTarget)) || isTrue(condition(d.next.Conditions, batchv1.JobSuccessCriteriaMet))
}

// checkStep expects Decide to do what is told for a time, at that time and not before.
func checkStep(t *rapid.T, obs Observation, s stintv1.JobStep) {
	before, after := obs, obs
	before.Now, after.Now = later(obs.Now, s.At.Add(-time.Nanosecond)), s.At.Time
	early, late := Decide(before), Decide(after)
	switch {
	case settles(early):
	case strings.Contains(s.What, "activeDeadlineSeconds"):
		if !settles(late) {
			t.Fatalf("the Job goes on past %s", s.What)
		}
	case strings.Contains(s.What, PendingTimeoutSeconds):
		over := !s.At.After(obs.Now)
		if fails := len(late.Fail) + len(late.Discard); !settles(late) && (fails == 0 || !over && fails <= len(early.Fail)) {
			t.Fatalf("no pod is failed: %s", s.What)
		}
	}
}
