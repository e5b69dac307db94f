package scheduledjob

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

func placeEnv(count string, more ...corev1.EnvVar) []corev1.EnvVar {
	return append([]corev1.EnvVar{
		{Name: "JOB_POD_COUNT", Value: count},
		{Name: "JOB_POD_INDEX", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{
			FieldPath: "metadata.annotations['batch.kubernetes.io/job-completion-index']"}}},
	}, more...)
}

// TestBuildJob compares one Job in full.
func TestBuildJob(t *testing.T) {
	sj := aScheduledJob(func(sj *stintv1.ScheduledJob) {
		sj.Labels = map[string]string{"team": "data", "stint.dev/job-tag": "spoiled"}
		sj.Annotations = map[string]string{"note": "hello", corev1.LastAppliedConfigAnnotation: "{}"}
		sj.Spec.PodCount, sj.Spec.MaxRestart, sj.Spec.ExecTimeout = ptr.To[int32](3), ptr.To[int32](2), ptr.To[int64](100)
		sj.Spec.ManagedBy = ptr.To("stint.dev/job-controller")
		sj.Spec.ManualSelector, sj.Spec.Selector = ptr.To(true), &metav1.LabelSelector{MatchLabels: map[string]string{"app": "report"}}
	})
	template := &corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "report"}},
		Spec: corev1.PodSpec{
			RestartPolicy:  corev1.RestartPolicyOnFailure,
			InitContainers: []corev1.Container{{Name: "init"}},
			Containers:     []corev1.Container{{Name: "main", Env: []corev1.EnvVar{{Name: "WHERE", Value: "$(JOB_POD_INDEX)"}}}},
		},
	}
	before := template.DeepCopy()
	got, err := BuildJob(sj, template, stintv1.Execution{Tag: "now"})
	if err != nil {
		t.Fatal(err)
	}
	podLabels := map[string]string{"app": "report", "stint.dev/job-name": "report", "stint.dev/job-tag": "now"}
	want := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Name: "report-now", Namespace: "ns",
			Labels:      map[string]string{"team": "data", "stint.dev/job-name": "report", "stint.dev/job-tag": "now"},
			Annotations: map[string]string{"note": "hello"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "stint.dev/v1", Kind: "ScheduledJob", Name: "report", UID: "sj-uid",
				Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true)}},
		},
		Spec: batchv1.JobSpec{
			CompletionMode: ptr.To(batchv1.IndexedCompletion), Completions: ptr.To[int32](3), Parallelism: ptr.To[int32](3),
			BackoffLimitPerIndex: ptr.To[int32](2), ManagedBy: ptr.To("stint.dev/job-controller"),
			ManualSelector: ptr.To(true), Selector: &metav1.LabelSelector{MatchLabels: podLabels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: podLabels},
				Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyNever, ActiveDeadlineSeconds: ptr.To[int64](100),
					InitContainers: []corev1.Container{{Name: "init", Env: placeEnv("3")}},
					Containers:     []corev1.Container{{Name: "main", Env: placeEnv("3", corev1.EnvVar{Name: "WHERE", Value: "$(JOB_POD_INDEX)"})}},
				},
			},
		},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(before, template); d != "" {
		t.Errorf("the template was changed: %s", d)
	}
}

func TestJobFields(t *testing.T) {
	tests := map[string]struct {
		change change
		check  func(*batchv1.Job) bool
	}{
		"one pod, restarted once, for as long as it takes, unless it says otherwise": {
			func(*stintv1.ScheduledJob) {},
			func(j *batchv1.Job) bool {
				return *j.Spec.Completions == 1 && *j.Spec.Parallelism == 1 && *j.Spec.BackoffLimitPerIndex == 1 &&
					j.Spec.Template.Spec.ActiveDeadlineSeconds == nil && j.Spec.Selector == nil && j.Spec.ManualSelector == nil
			},
		},
		"a pod's own shorter limit stays": {
			func(sj *stintv1.ScheduledJob) {
				sj.Spec.ExecTimeout, sj.Spec.Template.Spec.ActiveDeadlineSeconds = ptr.To[int64](100), ptr.To[int64](5)
			},
			func(j *batchv1.Job) bool { return *j.Spec.Template.Spec.ActiveDeadlineSeconds == 5 },
		},
		"a pod's own longer limit does not": {
			func(sj *stintv1.ScheduledJob) {
				sj.Spec.ExecTimeout, sj.Spec.Template.Spec.ActiveDeadlineSeconds = ptr.To[int64](100), ptr.To[int64](500)
			},
			func(j *batchv1.Job) bool { return *j.Spec.Template.Spec.ActiveDeadlineSeconds == 100 },
		},
		"a limit that no pod can have is none": {
			func(sj *stintv1.ScheduledJob) { sj.Spec.ExecTimeout = ptr.To[int64](0) },
			func(j *batchv1.Job) bool { return j.Spec.Template.Spec.ActiveDeadlineSeconds == nil },
		},
		"the author's own variable of that name stays": {
			func(sj *stintv1.ScheduledJob) {
				sj.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "JOB_POD_COUNT", Value: "mine"}}
			},
			func(j *batchv1.Job) bool {
				env := j.Spec.Template.Spec.Containers[0].Env
				return len(env) == 2 && env[0].Name == "JOB_POD_INDEX" && env[1].Value == "mine"
			},
		},
		"a manual selector that is missing selects the pods of the run": {
			func(sj *stintv1.ScheduledJob) { sj.Spec.ManualSelector = ptr.To(true) },
			func(j *batchv1.Job) bool {
				return cmp.Equal(j.Spec.Selector.MatchLabels, map[string]string{"stint.dev/job-name": "report", "stint.dev/job-tag": "now"})
			},
		},
		"a selector that is not meant as it is written is left out": {
			func(sj *stintv1.ScheduledJob) { sj.Spec.Selector = &metav1.LabelSelector{} },
			func(j *batchv1.Job) bool { return j.Spec.Selector == nil },
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			sj := aScheduledJob(tt.change)
			job, err := BuildJob(sj, sj.Spec.Template, stintv1.Execution{Tag: "now"})
			if err != nil || !tt.check(job) {
				t.Errorf("%v, %+v", err, job)
			}
		})
	}
}

func TestOverride(t *testing.T) {
	v := func(name, value string) corev1.EnvVar { return corev1.EnvVar{Name: name, Value: value} }
	tests := map[string]struct {
		overrides *stintv1.Overrides
		// init, main and side are the env and args of the three containers afterwards.
		init, main, side string
		err              string
	}{
		"nothing":                    {nil, "A=1 []", "A=1 B=2 [x y]", "[]", ""},
		"env is for all containers":  {&stintv1.Overrides{Env: []corev1.EnvVar{v("A", "7"), v("C", "8")}}, "A=1 []", "A=7 B=2 C=8 [x y]", "A=7 C=8 []", ""},
		"args are for the first":     {&stintv1.Overrides{Args: []string{"z"}}, "A=1 []", "A=1 B=2 [z]", "[]", ""},
		"a container is named":       {&stintv1.Overrides{Container: "side", Env: []corev1.EnvVar{v("A", "7")}, Args: []string{"z"}}, "A=1 []", "A=1 B=2 [x y]", "A=7 [z]", ""},
		"an init container is named": {&stintv1.Overrides{Container: "init", Env: []corev1.EnvVar{v("A", "7")}}, "A=7 []", "A=1 B=2 [x y]", "[]", ""},
		"no container has that name": {&stintv1.Overrides{Container: "missing"}, "A=1 []", "A=1 B=2 [x y]", "[]", `overrides: there is no container "missing": the template has main, side, init`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			template := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				InitContainers: []corev1.Container{{Name: "init", Env: []corev1.EnvVar{v("A", "1")}}},
				Containers: []corev1.Container{
					{Name: "main", Env: []corev1.EnvVar{v("A", "1"), v("B", "2")}, Args: []string{"x", "y"}},
					{Name: "side"},
				},
			}}
			err := Override(template, tt.overrides)
			if (err == nil) != (tt.err == "") || err != nil && err.Error() != tt.err {
				t.Errorf("error %v, want %q", err, tt.err)
			}
			got := []string{describe(template.Spec.InitContainers[0]), describe(template.Spec.Containers[0]), describe(template.Spec.Containers[1])}
			if d := cmp.Diff([]string{tt.init, tt.main, tt.side}, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestTag(t *testing.T) {
	tests := map[string]struct{ scheduled, manual bool }{
		"20260301-120000":  {scheduled: true},
		"20260229-120000":  {},
		"20260301-240000":  {},
		"20260301-1200000": {},
		"now":              {manual: true},
		"n":                {manual: true},
		"a-b-c":            {manual: true},
		"fifteen-letters":  {manual: true},
		"sixteen-letters-": {},
		"sixteen-letterss": {},
		"ends-":            {},
		"1st":              {},
		"Now":              {},
		"a.b":              {},
		"now\n":            {},
		"":                 {},
	}
	for tag, want := range tests {
		_, scheduled := dueOf(tag)
		if scheduled != want.scheduled || ManualTag(tag) != want.manual || ValidTag(tag) != (scheduled || want.manual) {
			t.Errorf("%q: scheduled %v, manual %v", tag, scheduled, ManualTag(tag))
		}
	}
	if tag := GenerateTag("x1y2z"); !ManualTag(tag) {
		t.Errorf("generates %q", tag)
	}
}
