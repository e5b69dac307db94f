package job

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/test/wrappers"
)

// dependent begins with a Job that has not started and depends on others.
func dependent(annotation string) *wrappers.JobWrapper {
	return aJob().Annotation(DependsOn, annotation).NoStartTime()
}

// shownAs puts the condition of a dependency into the status.
func shownAs(name string, status corev1.ConditionStatus, reason string) func(*batchv1.Job) {
	return func(j *batchv1.Job) {
		j.Status.Conditions = append(j.Status.Conditions, batchv1.JobCondition{Type: DependencyRule{Job: name}.condition(),
			Status: status, Reason: reason, LastTransitionTime: at(1)})
	}
}

func dependency(name string, job *wrappers.JobWrapper) Dependency {
	return Dependency{Name: name, Job: job.Obj()}
}

func absent(name string) Dependency { return Dependency{Name: name} }

func cyclic(name string, way ...string) Dependency {
	return Dependency{Name: name, Job: dependent("j").Obj(), Cycle: way}
}

func complete() *wrappers.JobWrapper {
	return aJob().Condition(batchv1.JobComplete, "CompletionsReached")
}

func failing() *wrappers.JobWrapper {
	return aJob().Condition(batchv1.JobFailed, "BackoffLimitExceeded")
}

// conditionsOf returns the conditions of a status as TYPE=STATUS(REASON).
func conditionsOf(s *batchv1.JobStatus) []string {
	var texts []string
	for _, c := range s.Conditions {
		texts = append(texts, fmt.Sprintf("%s=%s(%s)", c.Type, c.Status, c.Reason))
	}
	return texts
}

func TestDependencies(t *testing.T) {
	const extract, clean = DependsOnCondition + "extract", DependsOnCondition + "clean"
	tests := map[string]struct {
		job          *batchv1.Job
		pods         []*corev1.Pod
		dependencies []Dependency
		conditions   []string
		events       []string
		create       int
		again        bool
	}{
		"a Job that is not there is waited for": {
			job: dependent("extract").Obj(), dependencies: []Dependency{absent("extract")},
			conditions: []string{extract + "=False(NotFound)"}, events: []string{"WaitingForJobs: Waiting for extract"}},
		"one that runs too, with all the others": {
			job:          dependent("extract, clean=Finished").Obj(),
			dependencies: []Dependency{dependency("extract", aJob()), dependency("clean", aJob().Suspend(true))},
			conditions:   []string{extract + "=False(Running)", clean + "=False(Suspended)"},
			events:       []string{"WaitingForJobs: Waiting for extract, clean=Finished"}},
		"one that waits itself, and one that is being deleted": {
			job:          dependent("extract,clean").Obj(),
			dependencies: []Dependency{dependency("extract", dependent("x").With(shownAs("x", "False", "Running"))), dependency("clean", aJob().DeletionTimestamp(at(0)))},
			conditions:   []string{extract + "=False(Waiting)", clean + "=False(Terminating)"},
			events:       []string{"WaitingForJobs: Waiting for extract, clean"}},
		"the event that it waits is recorded once": {
			job: dependent("extract").With(shownAs("extract", "False", "NotFound")).Obj(), dependencies: []Dependency{dependency("extract", aJob())},
			conditions: []string{extract + "=False(Running)"}},
		"a dependency that was met stays met, though the Job is gone": {
			job:          dependent("extract,clean").With(shownAs("extract", "True", "Complete"), shownAs("clean", "False", "Running")).Obj(),
			dependencies: []Dependency{absent("clean")},
			conditions:   []string{extract + "=True(Complete)", clean + "=False(NotFound)"}},
		"no pod is made with the last condition": {
			job: dependent("extract").With(shownAs("extract", "False", "Running")).Obj(), dependencies: []Dependency{dependency("extract", complete())},
			conditions: []string{extract + "=True(Complete)"},
			events:     []string{"DependenciesMet: All Jobs that it depends on have ended as required"}, again: true},
		"but once that is stored": {
			job:        dependent("extract").With(shownAs("extract", "True", "Complete")).Obj(),
			conditions: []string{extract + "=True(Complete)"}, create: 2},
		"either end will do where either is asked for": {
			job: dependent("extract=Finished, clean=Failed").Obj(), dependencies: []Dependency{dependency("extract", failing()), dependency("clean", failing())},
			conditions: []string{extract + "=True(Failed)", clean + "=True(Failed)"},
			events:     []string{"DependenciesMet: All Jobs that it depends on have ended as required"}, again: true},
		"a Job that failed cannot complete": {
			job: dependent("clean,extract").Obj(), dependencies: []Dependency{absent("clean"), dependency("extract", failing())},
			conditions: []string{clean + "=False(NotFound)", extract + "=False(Failed)", "FailureTarget=True(DependencyFailed)"}, again: true},
		"a Job that is deleted when it has ended has ended": {
			job: dependent("extract").Obj(), dependencies: []Dependency{dependency("extract", complete().DeletionTimestamp(at(0)))},
			conditions: []string{extract + "=True(Complete)"},
			events:     []string{"DependenciesMet: All Jobs that it depends on have ended as required"}, again: true},
		"a Job that completed cannot fail": {
			job: dependent("extract=Failed").Obj(), dependencies: []Dependency{dependency("extract", complete())},
			conditions: []string{extract + "=False(Complete)", "FailureTarget=True(DependencyFailed)"}, again: true},
		"a cycle fails the Job": {
			job: dependent("extract").Obj(), dependencies: []Dependency{cyclic("extract", "extract", "j")},
			conditions: []string{extract + "=False(Cycle)", "FailureTarget=True(DependencyFailed)"}, again: true},
		"a Job without work waits too": {
			job: dependent("extract").Completions(0).Obj(), dependencies: []Dependency{dependency("extract", aJob())},
			conditions: []string{extract + "=False(Running)"}, events: []string{"WaitingForJobs: Waiting for extract"}},
		"the deadline of a Job that waits does not run": {
			job: dependent("extract").With(shownAs("extract", "False", "Running")).ActiveDeadlineSeconds(1).Obj(), dependencies: []Dependency{dependency("extract", aJob())},
			conditions: []string{extract + "=False(Running)"}},
		"a suspended Job still updates its conditions": {
			job: dependent("extract").Suspend(true).Obj(), dependencies: []Dependency{dependency("extract", complete())},
			conditions: []string{extract + "=True(Complete)", "Suspended=True(JobSuspended)"},
			events:     []string{"DependenciesMet: All Jobs that it depends on have ended as required", "Suspended: Job suspended"}, again: true},
		"a resumed Job that waits does not start": {
			job:          dependent("extract").Condition(batchv1.JobSuspended, "JobSuspended").With(shownAs("extract", "False", "Running")).Obj(),
			dependencies: []Dependency{dependency("extract", aJob())},
			conditions:   []string{"Suspended=False(JobResumed)", extract + "=False(Running)"}, events: []string{"Resumed: Job resumed"}},
		"a Job that has started is past waiting": {
			job: dependent("extract").StartTime(at(0)).Obj(), dependencies: []Dependency{dependency("extract", failing())}, create: 2},
		"so is one that has pods, though its status does not say so": {
			job: dependent("extract").Obj(), pods: []*corev1.Pod{aPod("p").Obj()}, create: 1},
		"or that has counted some": {
			job: dependent("extract").Succeeded(1).Obj(), create: 2},
		"a pod that another client created for a Job that waits does not start it": {
			job: dependent("extract").With(shownAs("extract", "False", "Running")).Obj(), pods: []*corev1.Pod{aPod("p").Obj()},
			dependencies: []Dependency{dependency("extract", aJob())}, conditions: []string{extract + "=False(Running)"}},
		"a Job that waits adopts no pods": {
			job: dependent("extract").With(shownAs("extract", "False", "Running")).Obj(), dependencies: []Dependency{dependency("extract", aJob())},
			pods:       []*corev1.Pod{aPod("p").OwnerReferences().Obj()},
			conditions: []string{extract + "=False(Running)"}},
		"a Job that no longer depends on another starts, without its condition": {
			job:        dependent("clean").With(shownAs("extract", "False", "Running"), shownAs("clean", "True", "Complete")).Obj(),
			conditions: []string{clean + "=True(Complete)"}, create: 2},
		"a Job that is being deleted gets no conditions": {
			job: dependent("extract").DeletionTimestamp(at(0)).Obj(), dependencies: []Dependency{dependency("extract", complete())}},
		"an invalid annotation is ignored": {
			job: dependent("Not a name").Obj(), create: 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			obs := observed(tt.job, tt.pods...)
			obs.Dependencies = tt.dependencies
			d := Decide(obs)
			next := d.next
			if diff := cmp.Diff(tt.conditions, conditionsOf(next)); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
			var events []string
			for _, e := range d.Events {
				events = append(events, e.Reason+": "+e.Message)
			}
			if diff := cmp.Diff(tt.events, events); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			if len(d.Create) != tt.create || d.Requeue != tt.again || len(d.Adopt)+len(d.Delete)+len(d.DeleteWithoutCounting) > 0 {
				t.Errorf("creates %d, again %v, adopts %v, removes %v and %v", len(d.Create), d.Requeue, d.Adopt, d.Delete, d.DeleteWithoutCounting)
			}
			if waits := tt.create == 0; waits && next.StartTime != nil {
				t.Errorf("starts at %v", next.StartTime)
			}
		})
	}
}

func TestAJobThatCannotStartFailsWithTheNameOfTheOther(t *testing.T) {
	tests := map[string]struct {
		asks       string
		dependency Dependency
		want       string
	}{
		"it failed":    {"extract", dependency("extract", failing()), "Job extract has failed: BackoffLimitExceeded"},
		"it completed": {"extract=Failed", dependency("extract", complete()), "Job extract has completed, but was required to fail"},
		"a cycle":      {"extract", cyclic("extract", "extract", "clean", "j"), "Jobs wait for each other: j → extract → clean → j"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			job := dependent(tt.asks).Obj()
			for range 2 { // the verdict, then the end
				obs := observed(job)
				obs.Dependencies = []Dependency{tt.dependency}
				if len(UnmetDependencies(job)) == 0 {
					obs.Dependencies = nil
				}
				d := Decide(obs)
				if len(d.Create) > 0 {
					t.Fatal("pods are made")
				}
				next, _ := d.Status(Outcome{})
				job = job.DeepCopy()
				job.Status = *next
			}
			end := End(job)
			if end == nil || end.Type != batchv1.JobFailed || end.Reason != DependencyFailed || end.Message != tt.want {
				t.Errorf("ends %+v", end)
			}
			if job.Status.StartTime == nil {
				t.Error("no server takes an ended Job without a start")
			}
		})
	}
}

func TestATransitionIsWhenTheStatusChanges(t *testing.T) {
	job := dependent("extract").With(shownAs("extract", "False", "NotFound")).Obj()
	obs := observed(job)
	obs.Dependencies = []Dependency{dependency("extract", aJob())}
	c := Decide(obs).next.Conditions[0]
	if c.Reason != "Running" || !c.LastTransitionTime.Equal(ptr.To(at(1))) {
		t.Errorf("another reason is a transition: %+v", c)
	}
	obs.Job, obs.Dependencies[0] = job.DeepCopy(), dependency("extract", complete())
	obs.Job.Status.Conditions[0] = c
	if c = Decide(obs).next.Conditions[0]; !c.LastTransitionTime.Equal(ptr.To(metav1.NewTime(epoch.Add(time.Minute)))) {
		t.Errorf("another status is none: %+v", c)
	}
}

func TestUnmetDependencies(t *testing.T) {
	tests := map[string]struct {
		job *batchv1.Job
		// asked are the unmet dependencies, names the Jobs that this one waits for, in a cycle too.
		asked, names []string
	}{
		"a Job that depends on none":               {aJob().Obj(), nil, nil},
		"all at first":                             {dependent("a,b=Failed").Obj(), []string{"a", "b=Failed"}, []string{"a", "b"}},
		"not what is met":                          {dependent("a,b").With(shownAs("a", "True", "Complete")).Obj(), []string{"b"}, []string{"b"}},
		"none once it has started":                 {dependent("a").StartTime(at(0)).Obj(), nil, nil},
		"none once it is to fail":                  {dependent("a").Condition(batchv1.JobFailureTarget, "x").With(shownAs("a", "False", "Failed")).Obj(), nil, nil},
		"one that fails for a cycle is part of it": {dependent("a").Condition(batchv1.JobFailureTarget, DependencyFailed).With(shownAs("a", "False", "Cycle")).StartTime(at(0)).Obj(), nil, []string{"a"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var asked []string
			for _, d := range UnmetDependencies(tt.job) {
				asked = append(asked, d.String())
			}
			if diff := cmp.Diff(tt.asked, asked); diff != "" {
				t.Errorf("asked for (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.names, UnmetDependencyNames(tt.job)); diff != "" {
				t.Errorf("names (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCycles(t *testing.T) {
	tests := map[string]struct {
		awaits map[string][]string
		want   []string
	}{
		"a chain is none":               {map[string][]string{"a": {"b"}, "b": {"c"}}, nil},
		"itself":                        {map[string][]string{"a": {"a"}}, []string{"a", "a"}},
		"two":                           {map[string][]string{"a": {"b"}, "b": {"a"}}, []string{"a", "b", "a"}},
		"the shortest of several":       {map[string][]string{"a": {"b", "c"}, "b": {"d"}, "d": {"a"}, "c": {"a"}}, []string{"a", "c", "a"}},
		"one that it only leads to":     {map[string][]string{"a": {"b"}, "b": {"c"}, "c": {"b"}}, nil},
		"ways that meet again are none": {map[string][]string{"a": {"b", "c"}, "b": {"d"}, "c": {"d"}}, nil},
		"one behind such":               {map[string][]string{"a": {"b", "c"}, "b": {"d"}, "c": {"d"}, "d": {"a"}}, []string{"a", "b", "d", "a"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := Cycle("a", func(name string) []string { return tt.awaits[name] })
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}
