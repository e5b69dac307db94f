package scheduledjob

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/apiserver/registry/pod"
	"github.com/stint-dev/stint/internal/apiserver/registry/registrytest"
	"github.com/stint-dev/stint/test/wrappers"
)

type scheduledJobEdit = func(*stintv1.ScheduledJob)

// scheduledJobManifest returns a ScheduledJob as a user writes it.
func scheduledJobManifest(edits ...scheduledJobEdit) *stintv1.ScheduledJob {
	return wrappers.MakeScheduledJob("report").Namespace("default").TimeSpec("R5//PT1H").RestartPolicy("").
		Containers("main").Image("busybox").Command("true").With(edits...).Obj()
}

func inScheduledJob(edit func(*stintv1.ScheduledJobSpec)) scheduledJobEdit {
	return func(sj *stintv1.ScheduledJob) { edit(&sj.Spec) }
}

func inTemplate(edit func(*corev1.PodTemplateSpec)) scheduledJobEdit {
	return func(sj *stintv1.ScheduledJob) { edit(sj.Spec.Template) }
}

func scheduledJobNamed(length int) scheduledJobEdit {
	return func(sj *stintv1.ScheduledJob) { sj.Name = strings.Repeat("a", length) }
}

func TestScheduledJobDefaults(t *testing.T) {
	sj := registrytest.Posted(Resource(pod.Options{}), scheduledJobManifest())
	want := scheduledJobManifest()
	want.Generation = 1
	want.Spec.Suspend, want.Spec.AllowConcurrentRun = ptr.To(false), ptr.To(true)
	want.Spec.MaxRestart, want.Spec.PodCount = ptr.To[int32](1), ptr.To[int32](1)
	want.Spec.SuccessfulJobsHistoryLimit, want.Spec.FailedJobsHistoryLimit = ptr.To[int32](3), ptr.To[int32](1)
	want.Spec.CompletedExecutionsHistoryLimit = ptr.To[int32](20)
	want.Spec.Schedule.SkipOutdated, want.Spec.Schedule.BlockOnFailure = ptr.To(true), ptr.To(false)
	if diff := cmp.Diff(want, sj); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestScheduledJobsAreAcceptedOrRefused(t *testing.T) {
	cases := map[string]struct {
		edits []scheduledJobEdit
		want  []string
	}{
		"a simple one is fine":                            {},
		"it may run on demand only":                       {edits: []scheduledJobEdit{inScheduledJob(func(s *stintv1.ScheduledJobSpec) { s.Schedule = nil })}},
		"45 characters leave room for a tag and an index": {edits: []scheduledJobEdit{scheduledJobNamed(45)}},
		"46 do not":                                     {edits: []scheduledJobEdit{scheduledJobNamed(46)}, want: []string{"metadata.name Invalid"}},
		"nor do 45 for an index of two digits":          {edits: []scheduledJobEdit{scheduledJobNamed(45), inScheduledJob(func(s *stintv1.ScheduledJobSpec) { s.PodCount = ptr.To[int32](11) })}, want: []string{"metadata.name Invalid"}},
		"a name with a dot is no host name":             {edits: []scheduledJobEdit{func(sj *stintv1.ScheduledJob) { sj.Name = "a.b" }}, want: []string{"metadata.name Invalid"}},
		"an interval without a unit is none":            {edits: []scheduledJobEdit{inScheduledJob(func(s *stintv1.ScheduledJobSpec) { s.Schedule.TimeSpec = "R5/T01:00:00/PT01" })}, want: []string{"spec.schedule.timeSpec Invalid"}},
		"a schedule says when":                          {edits: []scheduledJobEdit{inScheduledJob(func(s *stintv1.ScheduledJobSpec) { s.Schedule.TimeSpec = "" })}, want: []string{"spec.schedule.timeSpec Required"}},
		"a schedule is not endless":                     {edits: []scheduledJobEdit{inScheduledJob(func(s *stintv1.ScheduledJobSpec) { s.Schedule.TimeSpec = strings.Repeat("0", 256) })}, want: []string{"spec.schedule.timeSpec TooLong"}},
		"a zone is known":                               {edits: []scheduledJobEdit{inScheduledJob(func(s *stintv1.ScheduledJobSpec) { s.Schedule.TimeZone = ptr.To("Europe/Atlantis") })}, want: []string{"spec.schedule.timeZone Invalid"}},
		"a zone is not endless":                         {edits: []scheduledJobEdit{inScheduledJob(func(s *stintv1.ScheduledJobSpec) { s.Schedule.TimeZone = ptr.To(strings.Repeat("a", 65)) })}, want: []string{"spec.schedule.timeZone TooLong"}},
		"numbers have bounds":                           {edits: []scheduledJobEdit{badNumbers}, want: []string{"spec.maxRestart Invalid", "spec.podCount Invalid", "spec.execTimeout Invalid", "spec.successfulJobsHistoryLimit Invalid", "spec.failedJobsHistoryLimit Invalid", "spec.completedExecutionsHistoryLimit Invalid"}},
		"a manager is named by domain and path":         {edits: []scheduledJobEdit{inScheduledJob(func(s *stintv1.ScheduledJobSpec) { s.ManagedBy = ptr.To("me") })}, want: []string{"spec.managedBy Invalid"}},
		"something has to run":                          {edits: []scheduledJobEdit{inScheduledJob(func(s *stintv1.ScheduledJobSpec) { s.Template = nil })}, want: []string{"spec.template Required"}},
		"a reference is enough":                         {edits: []scheduledJobEdit{reference("shared")}},
		"a reference has a name":                        {edits: []scheduledJobEdit{reference("")}, want: []string{"spec.templateRef.name Required"}},
		"of a PodTemplate":                              {edits: []scheduledJobEdit{reference("Shared_")}, want: []string{"spec.templateRef.name Invalid"}},
		"one template is enough":                        {edits: []scheduledJobEdit{inScheduledJob(func(s *stintv1.ScheduledJobSpec) { s.TemplateRef = &corev1.LocalObjectReference{Name: "x"} })}, want: []string{"spec.templateRef Forbidden"}},
		"OnFailure is understood":                       {edits: []scheduledJobEdit{restartPolicy(corev1.RestartPolicyOnFailure)}},
		"Never is what it is":                           {edits: []scheduledJobEdit{restartPolicy(corev1.RestartPolicyNever)}},
		"Always never ends":                             {edits: []scheduledJobEdit{restartPolicy(corev1.RestartPolicyAlways)}, want: []string{"spec.template.spec.restartPolicy NotSupported"}},
		"the template is held to what a pod is held to": {edits: []scheduledJobEdit{inTemplate(func(t *corev1.PodTemplateSpec) { t.Spec.Containers[0].Image = "" })}, want: []string{"spec.template.spec.containers[0].image Required"}},
		"its labels too":                                {edits: []scheduledJobEdit{inTemplate(func(t *corev1.PodTemplateSpec) { t.Labels = map[string]string{"a": "b c"} })}, want: []string{"spec.template.labels Invalid"}},
		"the labels of a run are not its author's":      {edits: []scheduledJobEdit{inTemplate(func(t *corev1.PodTemplateSpec) { t.Labels = map[string]string{stintv1.LabelJobTag: "x"} })}, want: []string{"spec.template.metadata.labels[stint.dev/job-tag] Invalid"}},
		"its author may set the variables": {edits: []scheduledJobEdit{inTemplate(func(t *corev1.PodTemplateSpec) {
			t.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "JOB_POD_INDEX", Value: "7"}}
		})}},
		"a variable is there once":                      {edits: []scheduledJobEdit{inTemplate(func(t *corev1.PodTemplateSpec) { t.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "A"}, {Name: "A"}} })}, want: []string{"spec.template.spec.containers[0].env[1] Duplicate"}},
		"a selector is asked for twice":                 {edits: []scheduledJobEdit{selector(nil, "a", "b", "b")}, want: []string{"spec.selector Invalid"}},
		"a selector of one's own is fine":               {edits: []scheduledJobEdit{selector(ptr.To(true), "a", "b", "b")}},
		"if it matches":                                 {edits: []scheduledJobEdit{selector(ptr.To(true), "a", "b", "c")}, want: []string{"spec.template.metadata.labels Invalid"}},
		"but not by the tag":                            {edits: []scheduledJobEdit{selector(ptr.To(true), stintv1.LabelJobTag, "b", "b")}, want: []string{"spec.selector.matchLabels[stint.dev/job-tag] Invalid", "spec.template.metadata.labels[stint.dev/job-tag] Invalid"}},
		"manualSelector wants one":                      {edits: []scheduledJobEdit{inScheduledJob(func(s *stintv1.ScheduledJobSpec) { s.ManualSelector = ptr.To(true) })}, want: []string{"spec.selector Required"}},
		"what Jobs must not have is not copied to them": {edits: []scheduledJobEdit{func(sj *stintv1.ScheduledJob) { sj.Annotations = map[string]string{"stint.dev/depends-on": "X"} }}, want: []string{"metadata.annotations[stint.dev/depends-on] Invalid"}},
		"a PodTemplate's labels are not known beforehand": {edits: []scheduledJobEdit{reference("shared"), inScheduledJob(func(s *stintv1.ScheduledJobSpec) {
			s.ManualSelector, s.Selector = ptr.To(true), &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
		})}},
	}
	for sentence, c := range cases {
		t.Run(sentence, func(t *testing.T) {
			r := Resource(pod.Options{})
			registrytest.WantErrors(t, r.Validate(context.Background(), registrytest.Posted(r, scheduledJobManifest(c.edits...))), c.want...)
		})
	}
}

func badNumbers(sj *stintv1.ScheduledJob) {
	s := &sj.Spec
	s.MaxRestart, s.PodCount, s.ExecTimeout = ptr.To[int32](-1), ptr.To[int32](100_001), ptr.To[int64](0)
	s.SuccessfulJobsHistoryLimit, s.FailedJobsHistoryLimit = ptr.To[int32](-1), ptr.To[int32](-1)
	s.CompletedExecutionsHistoryLimit = ptr.To[int32](1001)
}

func reference(name string) scheduledJobEdit {
	return inScheduledJob(func(s *stintv1.ScheduledJobSpec) {
		s.Template, s.TemplateRef = nil, &corev1.LocalObjectReference{Name: name}
	})
}

func restartPolicy(policy corev1.RestartPolicy) scheduledJobEdit {
	return inTemplate(func(t *corev1.PodTemplateSpec) { t.Spec.RestartPolicy = policy })
}

func selector(manual *bool, key, selected, has string) scheduledJobEdit {
	return inScheduledJob(func(s *stintv1.ScheduledJobSpec) {
		s.ManualSelector = manual
		s.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{key: selected}}
		s.Template.Labels = map[string]string{key: has}
	})
}

func TestAllOfAScheduledJobMayChange(t *testing.T) {
	r := Resource(pod.Options{})
	old := registrytest.Posted(r, scheduledJobManifest())
	changed := registrytest.Posted(r, scheduledJobManifest(reference("shared"), inScheduledJob(func(s *stintv1.ScheduledJobSpec) {
		s.Schedule.TimeSpec, s.Schedule.TimeZone = "0 3 * * *", ptr.To("Asia/Tokyo")
		s.PodCount, s.MaxRestart, s.Suspend = ptr.To[int32](7), ptr.To[int32](0), ptr.To(true)
	})))
	r.PrepareForUpdate(context.Background(), changed, old)
	registrytest.WantErrors(t, r.ValidateUpdate(context.Background(), changed, old))
	if changed.Generation != 2 {
		t.Errorf("generation %d after a change of the first", changed.Generation)
	}
}

// A stored object can always be labelled and deleted.
func TestASpecThatDoesNotChangeIsNotValidated(t *testing.T) {
	r := Resource(pod.Options{})
	stored := scheduledJobManifest(inScheduledJob(func(s *stintv1.ScheduledJobSpec) {
		s.PodCount, s.Schedule.TimeZone = ptr.To[int32](0), ptr.To("Mars/Olympus")
	}))
	labelled := stored.DeepCopy()
	labelled.Labels = map[string]string{"a": "b"}
	registrytest.WantErrors(t, r.ValidateUpdate(context.Background(), labelled, stored))
	paused := stored.DeepCopy()
	paused.Spec.Suspend = ptr.To(true)
	registrytest.WantErrors(t, r.ValidateUpdate(context.Background(), paused, stored), "spec.podCount Invalid")
	paused.Spec.PodCount = ptr.To[int32](1)
	registrytest.WantErrors(t, r.ValidateUpdate(context.Background(), paused, stored))
}

func TestASelectorThatChangesIsHeldAgainstTheTemplate(t *testing.T) {
	r := Resource(pod.Options{})
	old := registrytest.Posted(r, scheduledJobManifest(selector(ptr.To(true), "a", "b", "b")))
	changed := registrytest.Posted(r, scheduledJobManifest(selector(ptr.To(true), "a", "c", "b")))
	registrytest.WantErrors(t, r.ValidateUpdate(context.Background(), changed, old), "spec.template.metadata.labels Invalid")
}

func TestScheduledJobWarnings(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	alone := func(timeSpec string) scheduledJobEdit {
		return inScheduledJob(func(s *stintv1.ScheduledJobSpec) {
			s.Schedule.TimeSpec, s.AllowConcurrentRun, s.ExecTimeout = timeSpec, ptr.To(false), ptr.To[int64](3600)
		})
	}
	for sentence, c := range map[string]struct {
		edits []scheduledJobEdit
		want  []string
	}{
		"a simple one is fine":                 {},
		"a last run in the past is told":       {[]scheduledJobEdit{inScheduledJob(func(s *stintv1.ScheduledJobSpec) { s.Schedule.TimeSpec = "R2/2026-02-01/P1D" })}, []string{"spec.schedule.timeSpec: no run is left"}},
		"parts of a second are told":           {[]scheduledJobEdit{inScheduledJob(func(s *stintv1.ScheduledJobSpec) { s.Schedule.TimeSpec = "@every 1500ms" })}, []string{"spec.schedule.timeSpec: due times are whole seconds: runs are 1s apart"}},
		"and so is less than one":              {[]scheduledJobEdit{inScheduledJob(func(s *stintv1.ScheduledJobSpec) { s.Schedule.TimeSpec = "@every 0s" })}, []string{"spec.schedule.timeSpec: due times are whole seconds: runs are 1s apart"}},
		"whole seconds are fine":               {[]scheduledJobEdit{inScheduledJob(func(s *stintv1.ScheduledJobSpec) { s.Schedule.TimeSpec = "@every 1m1s" })}, nil},
		"and a day that never comes":           {[]scheduledJobEdit{inScheduledJob(func(s *stintv1.ScheduledJobSpec) { s.Schedule.TimeSpec = "0 0 30 2 *" })}, []string{"spec.schedule.timeSpec: no run is left"}},
		"one run is enough":                    {[]scheduledJobEdit{inScheduledJob(func(s *stintv1.ScheduledJobSpec) { s.Schedule.TimeSpec = "R1/2026-04-01/P1D" })}, nil},
		"runs that may be slow for each other": {[]scheduledJobEdit{alone("R//PT10M")}, []string{"spec.schedule.timeSpec: runs are 10m0s apart"}},
		"runs that are quick enough":           {[]scheduledJobEdit{alone("R//PT1H")}, nil},
		"a template with a doubtful field": {[]scheduledJobEdit{inTemplate(func(t *corev1.PodTemplateSpec) {
			t.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80}, {ContainerPort: 80}}
		})}, []string{"spec.template.spec.containers[0].ports[1]"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			got := warn(scheduledJobManifest(c.edits...), pod.Options{}, now)
			ok := slices.EqualFunc(got, c.want, strings.HasPrefix)
			if !ok {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestScheduledJobRow(t *testing.T) {
	at := func(d time.Duration) *metav1.Time { return &metav1.Time{Time: registrytest.Now.Add(d)} }
	done := func(success *bool) []stintv1.Execution {
		return []stintv1.Execution{{Tag: "a"}, {Tag: "b", Success: success}}
	}
	for sentence, c := range map[string]struct {
		edit scheduledJobEdit
		want []any
	}{
		"a new one": {func(*stintv1.ScheduledJob) {}, []any{"report", "R5//PT1H", "False", int64(0), int64(0), "<none>", "<none>", "<none>", "60s", "main", "busybox"}},
		"a busy one": {func(sj *stintv1.ScheduledJob) {
			sj.Status = stintv1.ScheduledJobStatus{
				PendingExecutions: done(nil), RunningExecutions: done(nil)[:1], CompletedExecutions: done(ptr.To(true)),
				LastScheduleTime: at(-time.Hour), NextScheduleTime: at(90 * time.Second),
			}
		}, []any{"report", "R5//PT1H", "False", int64(2), int64(1), "60m", "Succeeded", "90s", "60s", "main", "busybox"}},
		"one that failed": {func(sj *stintv1.ScheduledJob) { sj.Status.CompletedExecutions = done(ptr.To(false)) },
			[]any{"report", "R5//PT1H", "False", int64(0), int64(0), "<none>", "Failed", "<none>", "60s", "main", "busybox"}},
		"one with an unknown result": {func(sj *stintv1.ScheduledJob) { sj.Status.CompletedExecutions = done(nil) },
			[]any{"report", "R5//PT1H", "False", int64(0), int64(0), "<none>", "Unknown", "<none>", "60s", "main", "busybox"}},
		"a blocked one, overdue": {func(sj *stintv1.ScheduledJob) {
			sj.Status.CompletedExecutions, sj.Status.NextScheduleTime = done(ptr.To(false)), at(-time.Second)
			sj.Status.Conditions = []metav1.Condition{{Type: stintv1.ConditionBlocked, Status: metav1.ConditionTrue}}
		}, []any{"report", "R5//PT1H", "False", int64(0), int64(0), "<none>", "Blocked", "<none>", "60s", "main", "busybox"}},
		"one on demand, by reference": {func(sj *stintv1.ScheduledJob) { reference("shared")(sj); sj.Spec.Schedule = nil },
			[]any{"report", "<none>", "False", int64(0), int64(0), "<none>", "<none>", "<none>", "60s", "podtemplate/shared", "<none>"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			r := Resource(pod.Options{})
			sj := registrytest.Posted(r, scheduledJobManifest())
			sj.CreationTimestamp = registrytest.Ago(time.Minute)
			c.edit(sj)
			if diff := cmp.Diff(c.want, r.Row(sj, registrytest.Now)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(r.Columns) != len(c.want) {
				t.Errorf("%d columns for %d cells", len(r.Columns), len(c.want))
			}
		})
	}
}

func executions(n int, tag string) []stintv1.Execution {
	var all []stintv1.Execution
	for i := range n {
		all = append(all, stintv1.Execution{Tag: fmt.Sprintf(tag, i)})
	}
	return all
}

func TestListsOfExecutionsAreBounded(t *testing.T) {
	for sentence, c := range map[string]struct {
		status stintv1.ScheduledJobStatus
		want   []string
	}{
		"100 runs on demand may wait":     {stintv1.ScheduledJobStatus{PendingExecutions: executions(100, "r%d")}, nil},
		"101 may not":                     {stintv1.ScheduledJobStatus{PendingExecutions: executions(101, "r%d")}, []string{"status.pendingExecutions Invalid"}},
		"200 of both kinds may":           {stintv1.ScheduledJobStatus{PendingExecutions: append(executions(100, "r%d"), executions(100, "20260301-1200%02d")[:60]...)}, nil},
		"not more":                        {stintv1.ScheduledJobStatus{PendingExecutions: executions(201, "r%d")}, []string{"status.pendingExecutions TooMany", "status.pendingExecutions Invalid"}},
		"1000 may run":                    {stintv1.ScheduledJobStatus{RunningExecutions: executions(1000, "r%d")}, nil},
		"not more at a time":              {stintv1.ScheduledJobStatus{RunningExecutions: executions(1001, "r%d")}, []string{"status.runningExecutions TooMany"}},
		"1000 that ended are remembered":  {stintv1.ScheduledJobStatus{CompletedExecutions: executions(1000, "r%d")}, nil},
		"those before them are forgotten": {stintv1.ScheduledJobStatus{CompletedExecutions: executions(1001, "r%d")}, []string{"status.completedExecutions TooMany"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			r := Resource(pod.Options{})
			registrytest.WantErrors(t, r.Status.ValidateUpdate(context.Background(), &stintv1.ScheduledJob{Status: c.status}, &stintv1.ScheduledJob{}), c.want...)
		})
	}
}

func TestARunOnDemandIsCheckedAgainstTheTemplate(t *testing.T) {
	template := scheduledJobManifest().Spec.Template
	for sentence, c := range map[string]struct {
		run  stintv1.ScheduledJobRun
		want []string
	}{
		"nothing special is fine":       {},
		"a tag is a name":               {run: stintv1.ScheduledJobRun{Tag: "Now!"}, want: []string{"tag Invalid"}},
		"and no due time":               {run: stintv1.ScheduledJobRun{Tag: "20260301-120000"}, want: []string{"tag Invalid"}},
		"the container is there":        {run: stintv1.ScheduledJobRun{Overrides: &stintv1.Overrides{Container: "main"}}},
		"another one is not":            {run: stintv1.ScheduledJobRun{Overrides: &stintv1.Overrides{Container: "other"}}, want: []string{"overrides.container NotFound"}},
		"variables are told apart":      {run: stintv1.ScheduledJobRun{Overrides: &stintv1.Overrides{Env: []corev1.EnvVar{{Name: "A"}, {Name: "A"}}}}, want: []string{"overrides.env[1] Duplicate"}},
		"they fit into the object":      {run: stintv1.ScheduledJobRun{Overrides: &stintv1.Overrides{Args: []string{strings.Repeat("a", 5000)}}}, want: []string{"overrides Invalid"}},
		"variables have names":          {run: stintv1.ScheduledJobRun{Overrides: &stintv1.Overrides{Env: []corev1.EnvVar{{Value: "A"}}}}, want: []string{"overrides.env[0].name Required"}},
		"a container's name is a label": {run: stintv1.ScheduledJobRun{Overrides: &stintv1.Overrides{Container: "Main_"}}, want: []string{"overrides.container Invalid", "overrides.container NotFound"}},
	} {
		t.Run(sentence, func(t *testing.T) { registrytest.WantErrors(t, ValidateRun(&c.run, template), c.want...) })
	}
}
