package job

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/stint-dev/stint/test/wrappers"
)

// dependencyWorld is a Job and the Jobs that it depends on. The controller may know an old version of the Job. Of the others it
// knows what a real controller does: cached versions of those that run, live ones of those that are cached as finished.
type dependencyWorld struct {
	t *rapid.T
	// job is stored, seen what the controller knows.
	job, seen    *batchv1.Job
	stored, late map[string]*batchv1.Job
	// metOnce are the conditions that were stored as True.
	metOnce map[batchv1.JobConditionType]bool
	now     time.Time
	pods    bool
}

var dependencyNames = []string{"a", "b", "c"}

// TestNoPodBeforeDependenciesAreMet drives a Job and three others through random histories, in which those are created, deleted and
// finished.
func TestNoPodBeforeDependenciesAreMet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		asks := rapid.SampledFrom([]string{"a", "a,b", "a=Finished, b=Failed", "a=Finished,b=Finished,c=Finished", "a,b,c=Finished"}).Draw(t, "depends-on")
		w := &dependencyWorld{t: t, job: dependent(asks).Obj(), stored: map[string]*batchv1.Job{}, late: map[string]*batchv1.Job{},
			metOnce: map[batchv1.JobConditionType]bool{}, now: epoch}
		w.seen = w.job
		name := func() string { return rapid.SampledFrom(dependencyNames).Draw(t, "which") }
		t.Repeat(map[string]func(*rapid.T){
			"create": func(*rapid.T) { w.stored[name()] = aJob().Obj() },
			"gone":   func(*rapid.T) { delete(w.stored, name()) },
			"end": func(t *rapid.T) {
				if n := name(); w.stored[n] != nil && !Finished(w.stored[n]) {
					w.stored[n] = rapid.SampledFrom([]func() *wrappers.JobWrapper{complete, failing}).Draw(t, "end")().Obj()
				}
			},
			"show":    func(*rapid.T) { n := name(); w.late[n] = w.stored[n] },
			"suspend": func(t *rapid.T) { w.suspend(rapid.Bool().Draw(t, "suspend")) },
			"look":    func(*rapid.T) { w.sync(rapid.Bool().Draw(t, "lost")) },
			"late":    func(*rapid.T) { w.sync(true) },
			"restart": func(*rapid.T) { w.seen = w.job },
		})
		w.finish()
	})
}

func (w *dependencyWorld) suspend(on bool) {
	if !Finished(w.job) {
		w.job = w.job.DeepCopy()
		w.job.Spec.Suspend = &on
		w.seen = w.job
	}
}

func (w *dependencyWorld) sync(lost bool) {
	w.now = w.now.Add(time.Second)
	if Finished(w.seen) || w.pods {
		return
	}
	obs := Observation{Job: w.seen, Now: w.now, Settings: DefaultSettings()}
	for _, d := range UnmetDependencies(w.seen) {
		shown := w.late[d.Job]
		if shown != nil && Finished(shown) {
			shown = w.stored[d.Job]
		}
		obs.Dependencies = append(obs.Dependencies, Dependency{Name: d.Job, Job: shown})
	}
	d := Decide(obs)
	if len(d.Create) > 0 {
		w.checkTime()
		w.pods = true
	}
	next, _ := d.Status(Outcome{})
	if next == nil || lost || w.seen != w.job {
		return
	}
	w.checkStatus(next, obs)
	w.job = w.job.DeepCopy()
	w.job.Status = *next
	w.seen = w.job
}

// checkTime fails the test if pods are created while the stored status, not the next one, lacks a condition.
func (w *dependencyWorld) checkTime() {
	asked, _ := ReadAnnotations(w.job.Annotations, AnnotationsPath)
	for _, d := range asked.DependsOn {
		if !w.metOnce[d.condition()] || !isTrue(condition(w.job.Status.Conditions, d.condition())) {
			w.t.Fatalf("pods are made before %s is met: %v", d, conditionsOf(&w.job.Status))
		}
	}
}

func (w *dependencyWorld) checkStatus(next *batchv1.JobStatus, obs Observation) {
	for kind := range w.metOnce {
		if !isTrue(condition(next.Conditions, kind)) {
			w.t.Fatalf("%s was met and is not any more", kind)
		}
	}
	asked, _ := ReadAnnotations(w.job.Annotations, AnnotationsPath)
	for _, d := range asked.DependsOn {
		if !isTrue(condition(next.Conditions, d.condition())) || w.metOnce[d.condition()] {
			continue
		}
		w.metOnce[d.condition()] = true
		for _, now := range obs.Dependencies {
			if now.Name == d.Job && (now.Job == nil || !Finished(now.Job)) {
				w.t.Fatalf("%s is met by a Job that has not ended", d)
			}
		}
	}
	if next.StartTime != nil && len(unsatisfied(asked.DependsOn, next.Conditions)) > 0 && condition(next.Conditions, batchv1.JobFailed) == nil {
		w.t.Fatalf("the Job starts while it waits: %v", conditionsOf(next))
	}
}

// finish completes every Job that is missing or unfinished. Then the Job must have started, or failed with a message about
// one of its dependencies.
func (w *dependencyWorld) finish() {
	w.suspend(false)
	for _, name := range dependencyNames {
		if w.stored[name] == nil || !Finished(w.stored[name]) {
			w.stored[name] = complete().Obj()
		}
		w.late[name] = w.stored[name]
	}
	for range 5 {
		w.seen = w.job
		w.sync(false)
	}
	end := End(w.job)
	switch {
	case w.pods != (end == nil):
		w.t.Fatalf("pods: %v, end: %v", w.pods, end)
	case end != nil && (end.Reason != DependencyFailed || len(UnmetConditions(w.job)) == 0):
		w.t.Fatalf("fails with %+v", end)
	case end == nil && condition(w.job.Status.Conditions, batchv1.JobFailureTarget) != nil:
		w.t.Fatal("starts with a verdict")
	}
	if end != nil && !named(end.Message, w.job.Status.Conditions) {
		w.t.Fatalf("%q is about none of the conditions", end.Message)
	}
}

// named reports whether a condition that is not met says the same.
func named(message string, conditions []batchv1.JobCondition) bool {
	for _, c := range conditions {
		if isDependency(c) && c.Status == corev1.ConditionFalse && c.Message == message {
			return true
		}
	}
	return false
}
