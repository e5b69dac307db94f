package scenario_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/test/await"
)

// scheduledRunScenarios are about when the runs of a ScheduledJob start, and what their Jobs are like.
var scheduledRunScenarios = []scenario{
	{
		name: "an interval without a start runs at the creation and after each step, as often as it says",
		play: func(s *scene) {
			o := s.createScheduled(every("R3//PT1S"))
			for _, tag := range o.tags(3) {
				o.succeeds(tag)
			}
			o.becomes(runs("completed="+joined(o.tags(3))+" count=3"), next(nil))
			o.stays(runs("completed=" + joined(o.tags(3)) + " count=3"))
			o.has(o.tags(3)...)
			for k, tag := range o.tags(3) {
				e := o.completed(tag)
				s.same("trigger", stintv1.TriggerSchedule, e.Trigger)
				s.same("due", o.due(k), e.DueAt.UTC())
				s.same("started before it was due", false, e.StartedAt.Time.Before(o.due(k)))
				s.same("ended before it started", false, e.CompletedAt.Before(e.StartedAt))
			}
		},
	},
	{
		name: "an interval without an end goes on until it is suspended",
		play: func(s *scene) {
			o := s.createScheduled(every("R//PT1S"))
			for _, tag := range o.tags(3) {
				o.succeeds(tag)
			}
			o.update(pausedSchedule)
			o.becomes(func(now *stintv1.ScheduledJob) string {
				if now.Status.SkippedCount == 0 {
					return "due times that pass without a run"
				}
				return ""
			})
		},
	},
	{
		name: "an interval with a start in the future begins then",
		play: func(s *scene) {
			o, start := s.createBefore(time.Second, func(at time.Time) string { return "R1/" + at.Format(time.RFC3339) + "/PT1H" })
			o.succeeds(start.Format(tagLayout))
			o.becomes(runs("completed="+start.Format(tagLayout)+" count=1"), next(nil))
		},
	},
	{
		name: "the status has the next due time, and nothing runs before it",
		play: func(s *scene) {
			start := time.Now().UTC().Truncate(time.Second).Add(time.Hour)
			o := s.createScheduled(every("R2/" + start.Format(time.RFC3339) + "/PT1H"))
			o.becomes(next(&start))
			o.stays(runs(""), next(&start))
			o.has()
		},
	},
	{
		name: "runs of an interval that were over before the creation are not made up for",
		play: func(s *scene) {
			o := s.createScheduled(past(3))
			o.becomes(takenUp, next(nil))
			o.stays(runs(""))
			o.has()
		},
	},
	{
		slow: true,
		name: "a cron expression starts a run at the full minute",
		play: func(s *scene) {
			o, at := s.createBefore(time.Minute, func(at time.Time) string { return at.Format("4 15 2 1 *") })
			o.becomes(next(&at))
			j := o.succeeds(at.Format(tagLayout)).now()
			s.same("started before it was due", false, j.CreationTimestamp.Time.Before(at))
			o.becomes(runs("completed=" + at.Format(tagLayout) + " count=1"))
		},
	},
	{
		name: "a run is a Job that the ScheduledJob controls, with its labels, and its tag in Job and pods",
		play: func(s *scene) {
			o := s.createScheduled(podCount(2), maxRestart(3), func(o *stintv1.ScheduledJob) {
				o.Labels = map[string]string{"team": "a"}
				o.Annotations = map[string]string{"note": "b", corev1.LastAppliedConfigAnnotation: "{}"}
				o.Spec.Template.Labels = map[string]string{"app": "c"}
				o.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
			})
			o.ask("first")
			j := o.jobOf("first").now()
			s.same("labels", map[string]string{"team": "a", stintv1.LabelJobName: "scheduled", stintv1.LabelJobTag: "first"}, j.Labels)
			s.same("annotations", map[string]string{"note": "b"}, j.Annotations)
			s.same("owners", []metav1.OwnerReference{{
				APIVersion: "stint.dev/v1", Kind: "ScheduledJob", Name: "scheduled", UID: o.uid, Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true),
			}}, j.OwnerReferences)
			s.same("mode", batchv1.IndexedCompletion, *j.Spec.CompletionMode)
			s.same("completions and parallelism", []int32{2, 2}, []int32{*j.Spec.Completions, *j.Spec.Parallelism})
			s.same("backoffLimitPerIndex", int32(3), *j.Spec.BackoffLimitPerIndex)
			s.same("restartPolicy", corev1.RestartPolicyNever, j.Spec.Template.Spec.RestartPolicy)
			for _, p := range o.jobOf("first").active(2) {
				s.same("labels of the pod", []string{"c", "scheduled", "first"},
					[]string{p.Labels["app"], p.Labels[stintv1.LabelJobName], p.Labels[stintv1.LabelJobTag]})
			}
		},
	},
	{
		name: "all pods of a run start at once, and each has its index and their number",
		play: func(s *scene) {
			o := s.createScheduled(podCount(3))
			o.ask("first")
			all := o.jobOf("first").active(3)
			all.haveIndexes(0, 1, 2)
			for _, p := range all {
				s.same("environment", place("3"), withoutIndex(p.Spec.Containers[0].Env))
			}
			all.succeed()
			o.becomes(runs("completed=first count=1"))
			s.same("exit codes", []stintv1.ExitCode{{Pods: 3, Indexes: "0-2"}}, o.completed("first").ExitCodes)
		},
	},
	{
		name: "variables that the author has set are not replaced",
		play: func(s *scene) {
			own := corev1.EnvVar{Name: "JOB_POD_COUNT", Value: "many"}
			o := s.createScheduled(podsThat(func(t *corev1.PodTemplateSpec) {
				t.Spec.Containers[0].Env = []corev1.EnvVar{own}
				t.Spec.InitContainers = []corev1.Container{{Name: "first", Image: "scripted"}}
			}))
			o.ask("first")
			p := o.jobOf("first").active(1)[0]
			s.same("environment", []corev1.EnvVar{place("1")[1], own}, withoutIndex(p.Spec.Containers[0].Env))
			s.same("environment of the init container", place("1"), withoutIndex(p.Spec.InitContainers[0].Env))
		},
	},
	{
		name: "execTimeout is the deadline of the pods, unless theirs is shorter",
		play: func(s *scene) {
			o := s.createScheduled(execTimeout(100))
			o.ask("first")
			s.same("deadline", ptr.To[int64](100), o.jobOf("first").active(1)[0].Spec.ActiveDeadlineSeconds)
			o.update(podsThat(func(t *corev1.PodTemplateSpec) { t.Spec.ActiveDeadlineSeconds = ptr.To[int64](10) }))
			o.ask("second")
			s.same("own deadline", ptr.To[int64](10), o.jobOf("second").active(1)[0].Spec.ActiveDeadlineSeconds)
			o.update(execTimeout(5))
			o.ask("third")
			s.same("shorter", ptr.To[int64](5), o.jobOf("third").active(1)[0].Spec.ActiveDeadlineSeconds)
		},
	},
	{
		name: "a failing pod is started again as often as maxRestart says, and then the run has failed",
		play: func(s *scene) {
			o := s.createScheduled(maxRestart(2))
			o.ask("first")
			j := o.jobOf("first")
			for n := range int32(2) {
				j.active(1).failLongAgo(3)
				j.becomes(failed(n+1), active(1))
			}
			j.active(1).failLongAgo(4)
			o.becomes(runs("completed=first! count=1"))
			s.same("exit codes", []stintv1.ExitCode{{Code: 4, Pods: 1, Indexes: "0"}}, o.completed("first").ExitCodes)
		},
	},
	{
		name: "a run that succeeds after a restart is a success",
		play: func(s *scene) {
			o := s.createScheduled(maxRestart(1))
			o.ask("first")
			j := o.jobOf("first")
			j.active(1).failLongAgo(3)
			j.becomes(failed(1))
			j.active(1).succeed()
			o.becomes(runs("completed=first count=1"))
			s.same("exit codes", []stintv1.ExitCode{{Pods: 1, Indexes: "0"}}, o.completed("first").ExitCodes)
		},
	},
	{
		name: "a run in which one of the pods fails has failed, with the exit codes of all",
		play: func(s *scene) {
			o := s.createScheduled(podCount(4))
			o.ask("first")
			all := o.jobOf("first").active(4).run()
			all[1:2].failLongAgo(3)
			all[0:1].succeed()
			all[2:4].succeed()
			o.becomes(runs("completed=first! count=1"))
			e := o.completed("first")
			s.same("exit codes", []stintv1.ExitCode{{Pods: 3, Indexes: "0,2,3"}, {Code: 3, Pods: 1, Indexes: "1"}}, e.ExitCodes)
			s.same("reason", batchv1.JobReasonFailedIndexes, e.Reason)
		},
	},
	{
		name: "the events of a run report its start and its end",
		play: func(s *scene) {
			o := s.createScheduled()
			o.ask("first")
			o.succeeds("first")
			o.becomes(runs("completed=first count=1"))
			o.ask("second")
			o.fails("second")
			o.becomes(runs("completed=first,second! count=2"))
			o.tells("SuccessfulCreate: Created job scheduled-first", "SawCompletedRun: Saw completed run first, success",
				"SuccessfulCreate: Created job scheduled-second",
				"SawCompletedRun: Saw completed run second, failed: FailedIndexes: Job has failed indexes")
		},
	},
	{
		name: "a selector of the author's is narrowed to the pods of the run",
		play: func(s *scene) {
			o := s.createScheduled(func(o *stintv1.ScheduledJob) {
				o.Spec.Template.Labels = map[string]string{"app": "a"}
				o.Spec.ManualSelector = ptr.To(true)
				o.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}
			})
			o.ask("first", "second")
			first, second := o.jobOf("first"), o.jobOf("second")
			s.same("selector", "first", first.now().Spec.Selector.MatchLabels[stintv1.LabelJobTag])
			first.active(1).succeed()
			first.becomes(succeeded(1), complete())
			second.stays(succeeded(0), unfinished())
			second.active(1).succeed()
			o.becomes(runs("completed=first,second count=2"))
		},
	},
}

// createBefore creates a ScheduledJob whose first run is due at a full second or minute. It tries again with more time,
// which a slow machine needs, until the schedule is observed before that.
func (s *scene) createBefore(full time.Duration, timeSpec func(start time.Time) string) (*scheduled, time.Time) {
	s.Helper()
	for n, ahead := 1, 4*time.Second; ahead < await.Limit; n, ahead = n+1, 2*ahead {
		start := time.Now().UTC().Add(ahead).Truncate(full).Add(full)
		o := s.createScheduled(every(timeSpec(start)), func(o *stintv1.ScheduledJob) { o.Name = fmt.Sprint("scheduled-", n) })
		if o.becomes(takenUp).Status.Schedule.Since.Time.Before(start) {
			return o, start
		}
	}
	s.Fatalf("no schedule was taken up less than %s after its creation", await.Limit)
	return nil, time.Time{}
}

// place returns the variables that the containers of a run of so many pods get.
func place(count string) []corev1.EnvVar {
	return []corev1.EnvVar{
		{Name: "JOB_POD_COUNT", Value: count},
		{Name: "JOB_POD_INDEX", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{
			APIVersion: "v1", FieldPath: "metadata.annotations['" + batchv1.JobCompletionIndexAnnotation + "']",
		}}},
	}
}

func joined(tags []string) string { return strings.Join(tags, ",") }

// withoutIndex leaves out the variable that the Job controller sets in the containers of every indexed Job.
func withoutIndex(env []corev1.EnvVar) []corev1.EnvVar {
	return slices.DeleteFunc(slices.Clone(env), func(v corev1.EnvVar) bool { return v.Name == "JOB_COMPLETION_INDEX" })
}
