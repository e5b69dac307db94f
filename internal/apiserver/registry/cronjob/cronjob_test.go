package cronjob

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/pod"
	"github.com/stint-dev/stint/internal/apiserver/registry/registrytest"
	"github.com/stint-dev/stint/test/wrappers"
)

type cronJobEdit = func(*batchv1.CronJob)

// createdCronJob returns a CronJob as the server stores it when it is created.
func createdCronJob(edits ...cronJobEdit) *batchv1.CronJob {
	cronJob := wrappers.MakeCronJob("nightly", "0 3 * * *").Namespace("default").
		Containers("main").Image("perl:5.34.0").Command("perl").With(edits...).Obj()
	r := Resource(pod.Options{})
	r.Default(cronJob)
	r.PrepareForCreate(context.Background(), cronJob)
	return cronJob
}

func cronSpec(edit func(*batchv1.CronJobSpec)) cronJobEdit {
	return func(cronJob *batchv1.CronJob) { edit(&cronJob.Spec) }
}

// jobSpec returns an edit of the spec in the Job template.
func jobSpec(edit func(*batchv1.JobSpec)) cronJobEdit {
	return cronSpec(func(s *batchv1.CronJobSpec) { edit(&s.JobTemplate.Spec) })
}

func jobAnnotation(key, value string) cronJobEdit {
	return func(cronJob *batchv1.CronJob) {
		metav1.SetMetaDataAnnotation(&cronJob.Spec.JobTemplate.ObjectMeta, key, value)
	}
}

func restartOnFailure(s *batchv1.JobSpec) {
	s.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
}

func failOnNoExitCode(s *batchv1.JobSpec) {
	s.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
		Action:      batchv1.PodFailurePolicyActionFailJob,
		OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpIn},
	}}}
}

func second(n int64) *metav1.Time { return &metav1.Time{Time: time.Unix(n, 0)} }

func scheduled(text string) cronJobEdit {
	return cronSpec(func(s *batchv1.CronJobSpec) { s.Schedule = text })
}

func zone(name string) cronJobEdit {
	return cronSpec(func(s *batchv1.CronJobSpec) { s.TimeZone = &name })
}

func TestCronJobDefaults(t *testing.T) {
	s := createdCronJob().Spec
	if s.ConcurrencyPolicy != batchv1.AllowConcurrent || *s.Suspend || *s.SuccessfulJobsHistoryLimit != 3 || *s.FailedJobsHistoryLimit != 1 {
		t.Errorf("got %s, %v, %d, %d; want Allow, false, 3, 1",
			s.ConcurrencyPolicy, *s.Suspend, *s.SuccessfulJobsHistoryLimit, *s.FailedJobsHistoryLimit)
	}
	if s.JobTemplate.Spec.BackoffLimit != nil || s.JobTemplate.Spec.Parallelism != nil {
		t.Error("the Jobs' defaults are set before there is a Job")
	}
	if s.JobTemplate.Spec.Template.Spec.DNSPolicy != corev1.DNSClusterFirst {
		t.Errorf("the pod template has no defaults: DNS policy %q", s.JobTemplate.Spec.Template.Spec.DNSPolicy)
	}
}

func TestCronJobCreate(t *testing.T) {
	name := func(n int) cronJobEdit {
		return func(cronJob *batchv1.CronJob) { cronJob.Name = strings.Repeat("a", n) }
	}
	concurrency := func(p batchv1.ConcurrencyPolicy) cronJobEdit {
		return cronSpec(func(s *batchv1.CronJobSpec) { s.ConcurrencyPolicy = p })
	}
	limits := func(succeeded, failed int32, deadline int64) cronJobEdit {
		return cronSpec(func(s *batchv1.CronJobSpec) {
			s.SuccessfulJobsHistoryLimit, s.FailedJobsHistoryLimit, s.StartingDeadlineSeconds = &succeeded, &failed, &deadline
		})
	}
	for sentence, c := range map[string]struct {
		edit cronJobEdit
		want []string
	}{
		"a plain CronJob is accepted":              {func(*batchv1.CronJob) {}, nil},
		"a name of 52 characters names Jobs of 63": {name(52), nil},
		"a name of 53 characters is too long":      {name(53), []string{"metadata.name Invalid"}},
		"a schedule is needed":                     {scheduled(""), []string{"spec.schedule Required"}},
		"Forbid is a policy":                       {concurrency(batchv1.ForbidConcurrent), nil},
		"Replace is a policy":                      {concurrency(batchv1.ReplaceConcurrent), nil},
		"an unknown policy is refused":             {concurrency("Queue"), []string{"spec.concurrencyPolicy NotSupported"}},
		"limits may be 0":                          {limits(0, 0, 0), nil},
		"successfulJobsHistoryLimit may not be -1": {limits(-1, 0, 0), []string{"spec.successfulJobsHistoryLimit Invalid"}},
		"failedJobsHistoryLimit may not be -1":     {limits(0, -1, 0), []string{"spec.failedJobsHistoryLimit Invalid"}},
		"startingDeadlineSeconds may not be -1":    {limits(0, 0, -1), []string{"spec.startingDeadlineSeconds Invalid"}},
		"the Job's rules hold":                     {jobSpec(func(s *batchv1.JobSpec) { s.BackoffLimit = ptr.To[int32](-1) }), []string{"spec.jobTemplate.spec.backoffLimit Invalid"}},
		"the Job's pods come to an end":            {jobSpec(func(s *batchv1.JobSpec) { s.Template.Spec.RestartPolicy = "" }), []string{"spec.jobTemplate.spec.template.spec.restartPolicy Required"}},
		"the Jobs do not share a selector": {jobSpec(func(s *batchv1.JobSpec) {
			s.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}}
		}), []string{"spec.jobTemplate.spec.selector Invalid"}},
		"the Jobs do not select by hand":            {jobSpec(func(s *batchv1.JobSpec) { s.ManualSelector = ptr.To(true) }), []string{"spec.jobTemplate.spec.manualSelector NotSupported"}},
		"that they do not may be said":              {jobSpec(func(s *batchv1.JobSpec) { s.ManualSelector = ptr.To(false) }), nil},
		"the Job's annotations are those of a Job":  {jobAnnotation("stint.dev/depends-on", "X"), []string{"spec.jobTemplate.metadata.annotations[stint.dev/depends-on] Invalid"}},
		"a time zone in the schedule is refused":    {scheduled("TZ=UTC 0 3 * * *"), []string{"spec.schedule Invalid"}},
		"a bare time zone in it is refused quietly": {scheduled("TZ=UTC"), []string{"spec.schedule Invalid"}},
		"TZ=0 in it is refused quietly":             {scheduled("TZ=0"), []string{"spec.schedule Invalid"}},
		"CRON_TZ in it is refused":                  {scheduled("CRON_TZ=Asia/Tokyo @daily"), []string{"spec.schedule Invalid"}},
		"a time zone goes beside the schedule":      {zone("Europe/Berlin"), nil},
		"a time zone that is unknown is refused":    {zone("Europe/Nowhere"), []string{"spec.timeZone Invalid"}},
		"both wrong are told of both":               {func(c *batchv1.CronJob) { zone("x y")(c); scheduled("x")(c) }, []string{"spec.schedule Invalid", "spec.timeZone Invalid"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			registrytest.WantErrors(t, Resource(pod.Options{}).Validate(context.Background(), createdCronJob(c.edit)), c.want...)
		})
	}
}

func TestCronJobUpdate(t *testing.T) {
	long := func(cronJob *batchv1.CronJob) { cronJob.Name = strings.Repeat("a", 53) }
	annotated := jobAnnotation("stint.dev/depends-on", "X")
	for sentence, c := range map[string]struct {
		old, edit cronJobEdit
		want      []string
	}{
		"nothing may change":                      {long, func(*batchv1.CronJob) {}, nil},
		"the schedule may change":                 {long, scheduled("@hourly"), nil},
		"the schedule is checked":                 {long, scheduled("hourly"), []string{"spec.schedule Invalid"}},
		"the template may change":                 {long, jobSpec(restartOnFailure), nil},
		"the template is checked":                 {long, jobSpec(func(s *batchv1.JobSpec) { s.Template.Spec.Containers = nil }), []string{"spec.jobTemplate.spec.template.spec.containers Required"}},
		"the rest of the Job is checked":          {long, jobSpec(failOnNoExitCode), []string{"spec.jobTemplate.spec.podFailurePolicy.rules[0].onExitCodes.values Invalid"}},
		"a zone that has become unknown may stay": {zone("Europe/Nowhere"), scheduled("@hourly"), nil},
		"a zone that comes must be known":         {long, zone("Europe/Nowhere"), []string{"spec.timeZone Invalid"}},
		"the template's annotations may stay":     {annotated, scheduled("@hourly"), nil},
		"and its annotations those of a Job":      {long, annotated, []string{"spec.jobTemplate.metadata.annotations[stint.dev/depends-on] Invalid"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			r := Resource(pod.Options{})
			old := createdCronJob(c.old)
			cronJob := old.DeepCopy()
			c.edit(cronJob)
			r.PrepareForUpdate(context.Background(), cronJob, old)
			registrytest.WantErrors(t, r.ValidateUpdate(context.Background(), cronJob, old), c.want...)
		})
	}
}

func TestCronJobGenerationAndStatus(t *testing.T) {
	r := Resource(pod.Options{})
	old := createdCronJob()
	cronJob := old.DeepCopy()
	scheduled("@hourly")(cronJob)
	cronJob.Status.LastScheduleTime = second(5)
	r.PrepareForUpdate(context.Background(), cronJob, old)
	if cronJob.Generation != 2 || cronJob.Status.LastScheduleTime != nil {
		t.Errorf("generation %d, last run %v; want 2 and none", cronJob.Generation, cronJob.Status.LastScheduleTime)
	}
	ran := old.DeepCopy()
	scheduled("@hourly")(ran)
	ran.Status.LastScheduleTime = second(5)
	r.Status.PrepareForUpdate(context.Background(), ran, old)
	if ran.Spec.Schedule != old.Spec.Schedule || ran.Status.LastScheduleTime == nil {
		t.Errorf("schedule %q, last run %v; want the old one and the new time", ran.Spec.Schedule, ran.Status.LastScheduleTime)
	}
}

func TestCronJobWarnings(t *testing.T) {
	r := Resource(pod.Options{})
	dotted := createdCronJob(func(cronJob *batchv1.CronJob) { cronJob.Name = "a.b" })
	if got := r.WarningsOnCreate(context.Background(), dotted); len(got) != 1 {
		t.Errorf("a name with dots brings %q, want one warning", got)
	}
	old := createdCronJob()
	large := old.DeepCopy()
	jobSpec(func(s *batchv1.JobSpec) {
		s.CompletionMode = ptr.To(batchv1.IndexedCompletion)
		s.Completions, s.Parallelism = ptr.To[int32](100_001), ptr.To[int32](10_001)
	})(large)
	r.PrepareForUpdate(context.Background(), large, old)
	if got := r.WarningsOnUpdate(context.Background(), large, old); len(got) != 1 || !strings.Contains(got[0], "spec.jobTemplate.spec") {
		t.Errorf("a large Job brings %q, want one warning of spec.jobTemplate.spec", got)
	}
	if got := r.WarningsOnUpdate(context.Background(), old, old); len(got) != 0 {
		t.Errorf("nothing brings %q", got)
	}
}

func TestCronJobRow(t *testing.T) {
	columns := Resource(pod.Options{}).Columns
	want := []string{"Name", "Schedule", "Timezone", "Suspend", "Active", "Last Schedule", "Age"}
	if diff := cmp.Diff(want, registrytest.ColumnNames(columns, 0)); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Containers", "Images", "Selector"}, registrytest.ColumnNames(columns, 1)); diff != "" {
		t.Errorf("wide columns (-want +got):\n%s", diff)
	}
	for sentence, c := range map[string]struct {
		edit cronJobEdit
		want []any
	}{
		"a new CronJob": {
			func(*batchv1.CronJob) {}, []any{"nightly", "0 3 * * *", "<none>", "False", int64(0), "<none>", "50m"}},
		"one that runs": {
			func(c *batchv1.CronJob) {
				c.Status.Active = make([]corev1.ObjectReference, 2)
				c.Status.LastScheduleTime = second(2990)
			},
			[]any{"nightly", "0 3 * * *", "<none>", "False", int64(2), "10s", "50m"}},
		"one elsewhere": {
			zone("Asia/Tokyo"), []any{"nightly", "0 3 * * *", "Asia/Tokyo", "False", int64(0), "<none>", "50m"}},
		"a suspended one": {
			cronSpec(func(s *batchv1.CronJobSpec) { s.Suspend = ptr.To(true) }),
			[]any{"nightly", "0 3 * * *", "<none>", "True", int64(0), "<none>", "50m"}},
		"one that does not say": {
			cronSpec(func(s *batchv1.CronJobSpec) { s.Suspend = nil }),
			[]any{"nightly", "0 3 * * *", "<none>", "<unset>", int64(0), "<none>", "50m"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			cronJob := createdCronJob(func(c *batchv1.CronJob) { c.CreationTimestamp = *second(0) })
			c.edit(cronJob)
			want := append(slices.Clone(c.want), "main", "perl:5.34.0", "<none>")
			if diff := cmp.Diff(want, Resource(pod.Options{}).Row(cronJob, time.Unix(3000, 0))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
