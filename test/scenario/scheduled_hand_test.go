package scenario_test

import (
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// scheduledHandScenarios are about runs on demand, and what their Jobs are made from.
var scheduledHandScenarios = []scenario{
	{
		name: "a run by hand starts at once and stays listed",
		play: func(s *scene) {
			o := s.createScheduled()
			o.ask("first")
			j := o.succeeds("first")
			o.becomes(runs("completed=first count=1"))
			e := o.completed("first")
			s.same("run", []any{stintv1.TriggerManual, stintv1.ExecutionCompleted, true, j.name, j.uid, true},
				[]any{e.Trigger, e.Status, *e.Success, e.JobName, e.JobUID, e.CreatedAt != nil && e.StartedAt != nil && e.DueAt == nil})
		},
	},
	{
		name: "a tag that was used already is refused, and nothing runs twice",
		play: func(s *scene) {
			o := s.createScheduled()
			o.ask("first")
			o.succeeds("first")
			o.becomes(runs("completed=first count=1"))
			now := o.now().DeepCopy()
			now.Status.PendingExecutions = executions("first")
			_, err := o.stored.UpdateStatus(s.Context(), now, metav1.UpdateOptions{})
			s.same("refused", true, apierrors.IsInvalid(err))
			o.stays(runs("completed=first count=1"))
			o.has("first")
		},
	},
	{
		name: "a tag that is no longer listed but has a Job is the same run",
		play: func(s *scene) {
			o := s.createScheduled(remembers(0))
			o.ask("first")
			o.succeeds("first")
			o.becomes(runs("count=1"))
			o.ask("first")
			o.stays(noneRuns)
			o.has("first")
		},
	},
	{
		name: "runs by hand that are asked for together start in order where they wait for each other",
		play: func(s *scene) {
			o := s.createScheduled(oneAtATime)
			o.ask("z", "a", "m")
			o.becomes(runs("pending=a,m running=z count=1"))
			for _, tag := range []string{"z", "a", "m"} {
				o.succeeds(tag)
			}
			o.becomes(runs("completed=z,a,m count=3"))
		},
	},
	{
		name: "a run by hand may have an environment and arguments of its own",
		play: func(s *scene) {
			o := s.createScheduled(podsThat(func(t *corev1.PodTemplateSpec) {
				t.Spec.Containers[0].Args = []string{"a"}
				t.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "A", Value: "1"}, {Name: "B", Value: "2"}}
			}))
			o.askFor(stintv1.Execution{Tag: "first", Overrides: &stintv1.Overrides{
				Args: []string{"b", "c"}, Env: []corev1.EnvVar{{Name: "B", Value: "3"}, {Name: "C", Value: "4"}},
			}})
			c := o.jobOf("first").active(1)[0].Spec.Containers[0]
			s.same("args", []string{"b", "c"}, c.Args)
			s.same("environment", map[string]string{"A": "1", "B": "3", "C": "4"}, values(c.Env))
			o.ask("second")
			c = o.jobOf("second").active(1)[0].Spec.Containers[0]
			s.same("args of the next run", []string{"a"}, c.Args)
			s.same("environment of the next run", map[string]string{"A": "1", "B": "2"}, values(c.Env))
		},
	},
	{
		name: "overrides may be for one of several containers, and for none that is not there",
		play: func(s *scene) {
			o := s.createScheduled(podsThat(func(t *corev1.PodTemplateSpec) {
				t.Spec.Containers = append(t.Spec.Containers, corev1.Container{Name: "side", Image: "scripted"})
			}))
			o.askFor(
				stintv1.Execution{Tag: "first", Overrides: &stintv1.Overrides{Container: "side", Args: []string{"b"}}},
				stintv1.Execution{Tag: "second", Overrides: &stintv1.Overrides{Container: "nobody", Args: []string{"b"}}},
			)
			spec := o.jobOf("first").active(1)[0].Spec
			s.same("args", [][]string{nil, {"b"}}, [][]string{spec.Containers[0].Args, spec.Containers[1].Args})
			s.same("reason", "InvalidOverrides", o.completed("second").Reason)
			o.has("first")
		},
	},
	{
		name: "a run waits for its PodTemplate, and then runs what it says at the time",
		play: func(s *scene) {
			o := s.createScheduled(templateRef("late"))
			o.ask("first")
			o.becomes(runs("pending=first"), waitsBecause("first", "TemplateNotFound"))
			o.tellsOf("TemplateNotFound")
			templates := s.api.CoreV1().PodTemplates(s.namespace)
			t, err := templates.Create(s.Context(), &corev1.PodTemplate{
				ObjectMeta: metav1.ObjectMeta{Name: "late"}, Template: withImage("one")}, metav1.CreateOptions{})
			s.must(err)
			s.same("image", "one", o.jobOf("first").active(1)[0].Spec.Containers[0].Image)
			t.Template = withImage("two")
			_, err = templates.Update(s.Context(), t, metav1.UpdateOptions{})
			s.must(err)
			o.succeeds("first")
			s.settleScheduled()
			o.ask("second")
			s.same("image of the next run", "two", o.jobOf("second").active(1)[0].Spec.Containers[0].Image)
		},
	},
}

func values(env []corev1.EnvVar) map[string]string {
	all := map[string]string{}
	for _, v := range env {
		if v.ValueFrom == nil && v.Name != "JOB_POD_COUNT" {
			all[v.Name] = v.Value
		}
	}
	return all
}

func withImage(name string) corev1.PodTemplateSpec {
	t := aJob().Spec.Template
	t.Spec.Containers[0].Image = name
	return t
}
