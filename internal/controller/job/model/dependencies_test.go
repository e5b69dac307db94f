package model_test

import (
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/stint-dev/stint/test/simulated"
	"github.com/stint-dev/stint/test/wrappers"
)

const (
	dependsOn        = "stint.dev/depends-on"
	dependencyPrefix = "depends-on.stint.dev/"
	dependencyFailed = "DependencyFailed"
)

// others are Jobs that the drawn one may depend on. They have an external controller: the history finishes them.
var others = []string{"a", "b"}

func drawDependencies(t *rapid.T, j *batchv1.Job) {
	if !simulated.OneIn(t, 4, dependsOn) {
		return
	}
	var entries []string
	for _, name := range others {
		if end := rapid.SampledFrom([]string{"", "Complete", "Failed", "Finished"}).Draw(t, "end of "+name); end != "" {
			entries = append(entries, name+"="+end)
		}
	}
	if len(entries) > 0 {
		j.Annotations[dependsOn] = strings.Join(entries, ", ")
	}
}

// awaited maps the names of the Jobs that j depends on to the ends that it asks for.
func awaited(j *batchv1.Job) map[string]string {
	asked := map[string]string{}
	if text := j.Annotations[dependsOn]; text != "" {
		for entry := range strings.SplitSeq(text, ", ") {
			name, end, _ := strings.Cut(entry, "=")
			asked[name] = end
		}
	}
	return asked
}

// satisfied reports whether other has finished as end asks, and opposed whether it has finished otherwise. Other may be
// nil.
func satisfied(other *batchv1.Job, end string) bool {
	return other != nil && (holds(other, batchv1.JobComplete) && end != "Failed" || holds(other, batchv1.JobFailed) && end != "Complete")
}

func contradicted(other *batchv1.Job, end string) bool {
	return other != nil && finished(other) && !satisfied(other, end)
}

func due(j *batchv1.Job) bool {
	for name := range awaited(j) {
		if !holds(j, batchv1.JobConditionType(dependencyPrefix+name)) {
			return false
		}
	}
	return true
}

func (x creation) isDue() {
	if j := x.account.now(); j.Status.StartTime == nil && !due(j) {
		x.Fail("a pod is created before its time")
	}
}

func (x statusWrite) followsDependencies() {
	for name, end := range awaited(x.is) {
		kind := batchv1.JobConditionType(dependencyPrefix + name)
		switch {
		case holds(x.was, kind) && !holds(x.is, kind):
			x.Fail("Job %s is waited for again", name)
		case !holds(x.was, kind) && holds(x.is, kind) && !satisfied(x.by.liveJobs[name], end) && !x.endedMeanwhile(name, end):
			x.Fail("Job %s was not %s when the controller asked for it, nor ended so while it was waited for", name, end)
		}
	}
}

// endedMeanwhile reports whether a Job of that name finished as end asks after the dependent Job was created.
func (x statusWrite) endedMeanwhile(name, end string) bool {
	for _, a := range x.accounts {
		for _, other := range a.versions {
			if other.Name == name && satisfied(other, end) && simulated.VersionOf(other) > simulated.VersionOf(x.account.versions[0]) {
				return true
			}
		}
	}
	return false
}

func (x statusWrite) startsWhenDue() {
	if x.was.Status.StartTime == nil && x.is.Status.StartTime != nil && !due(x.was) && !due(x.is) && reason(x.is, batchv1.JobFailureTarget) != dependencyFailed {
		x.Fail("the Job starts before its time")
	}
}

// mayFailByDependency reports whether a Job that j depends on has at some time finished otherwise than j asks.
func (l *ledger) mayFailByDependency(j *batchv1.Job) bool {
	for _, a := range l.accounts {
		for _, other := range a.versions {
			if end, asked := awaited(j)[other.Name]; asked && contradicted(other, end) {
				return true
			}
		}
	}
	return false
}

func (w *world) happenToOthers(t *rapid.T) {
	name := rapid.SampledFrom(others).Draw(t, "name")
	j := w.job(name)
	if j == nil {
		w.createOther(name)
		return
	}
	switch what := rapid.SampledFrom([]string{"complete", "complete", "fail", "delete"}).Draw(t, "what"); {
	case j.DeletionTimestamp != nil:
		t.Skip("it is being deleted")
	case what == "delete":
		w.Logf("user deletes Job %s", name)
		w.deleteJob(name, metav1.DeletePropagationBackground)
	case finished(j):
		t.Skip("it has ended")
	case what == "complete":
		w.endOther(name, batchv1.JobSuccessCriteriaMet, batchv1.JobComplete)
	default:
		w.endOther(name, batchv1.JobFailureTarget, batchv1.JobFailed)
	}
}

func (w *world) createOther(name string) {
	w.createJob(wrappers.MakeJob(name).ManagedBy("example.com/other").Obj())
}

func (w *world) endOther(name string, kinds ...batchv1.JobConditionType) {
	w.Logf("Job %s ends: %s", name, kinds[1])
	w.jobs.Change(w.job(name), func(j *batchv1.Job) {
		for _, kind := range kinds {
			j.Status.Conditions = append(j.Status.Conditions, batchv1.JobCondition{Type: kind, Status: corev1.ConditionTrue, Reason: "Done"})
		}
	})
}

// endOthers finishes all Jobs that the drawn one depends on, as it asks.
func (w *world) endOthers() {
	w.collectGarbage()
	for _, name := range others {
		j := w.job(jobName)
		if j == nil {
			return
		}
		end, asked := awaited(j)[name]
		if !asked {
			continue
		}
		if w.job(name) == nil {
			w.createOther(name)
		}
		switch {
		case finished(w.job(name)):
		case slices.Contains([]string{"Complete", "Finished"}, end):
			w.endOther(name, batchv1.JobSuccessCriteriaMet, batchv1.JobComplete)
		default:
			w.endOther(name, batchv1.JobFailureTarget, batchv1.JobFailed)
		}
	}
}
