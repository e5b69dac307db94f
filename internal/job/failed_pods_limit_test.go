package job

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/stint-dev/stint/internal/podstatus"
	"github.com/stint-dev/stint/test/wrappers"
)

func withFailuresBefore(n, last int) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		wrappers.FromPod(p).Annotation(FailuresBefore, strconv.Itoa(n)).
			Annotation(LastFailure, at(last).UTC().Format(time.RFC3339))
	}
}

func TestFailedPodsBeyondTheLimit(t *testing.T) {
	counted := func(name string, end int, changes ...func(*corev1.Pod)) *corev1.Pod {
		return aPod(name).Exited(1, at(end)).Finalizers().With(changes...).Obj()
	}
	failures := []*corev1.Pod{counted("a", 10), counted("b", 20), counted("c", 30)}
	limited := func(n int) *wrappers.JobWrapper { return aJob().Annotation(FailedPodsLimit, strconv.Itoa(n)) }
	failing := func(n int) *wrappers.JobWrapper { return limited(n).Condition(batchv1.JobFailureTarget, "x") }
	tests := map[string]struct {
		job    *batchv1.Job
		pods   []*corev1.Pod
		failed []*corev1.Pod
		want   []string
	}{
		"without a limit all stay":                        {aJob().Condition(batchv1.JobFailureTarget, "x").Obj(), nil, failures, nil},
		"the newest stay":                                 {failing(1).Obj(), nil, failures, []string{"a", "b"}},
		"none stay where none shall":                      {failing(0).Obj(), nil, failures, []string{"a", "b", "c"}},
		"a limit that is not reached removes none":        {failing(3).Obj(), nil, failures, nil},
		"while no pod records them they stay":             {limited(0).Obj(), nil, failures, nil},
		"a later pod records them":                        {limited(0).Obj(), []*corev1.Pod{aPod("n").With(withFailuresBefore(3, 30)).Obj()}, failures, []string{"a", "b", "c"}},
		"it does not record what came later":              {limited(0).Obj(), []*corev1.Pod{aPod("n").With(withFailuresBefore(2, 20)).Obj()}, failures, []string{"a", "b"}},
		"one that is being deleted does not count":        {limited(0).Obj(), []*corev1.Pod{aPod("n").With(withFailuresBefore(3, 30)).Running().DeletionTimestamp(at(0)).Obj()}, failures, nil},
		"a failed pod that stays records those before it": {limited(1).Obj(), nil, []*corev1.Pod{failures[0], counted("b", 20, withFailuresBefore(1, 10))}, []string{"a"}},
		"one that is deleted itself does not":             {limited(0).Obj(), nil, []*corev1.Pod{failures[0], counted("b", 20, withFailuresBefore(1, 10))}, nil},
		"a success makes those before it matter no more":  {limited(0).Obj(), []*corev1.Pod{aPod("s").Exited(0, at(25)).Obj()}, failures, []string{"a", "b"}},
		"an index has its own count": {limited(0).Indexed().BackoffLimitPerIndex(3).Obj(),
			nil, failures, []string{"a", "b", "c"}},
		"a verdict that is not stored yet deletes none": {limited(0).BackoffLimit(2).Failed(3).Obj(), nil, failures, nil},
		"the pods of a deleted Job are left alone":      {failing(0).DeletionTimestamp(at(0)).Obj(), nil, failures, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			obs := observed(tt.job, tt.pods...)
			obs.FailedPods = tt.failed
			if diff := cmp.Diff(tt.want, names(Decide(obs).DeleteFailed)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTheControllersLimitIsForJobsWithoutTheAnnotation(t *testing.T) {
	settings := DefaultSettings()
	settings.FailedPodsLimit = ptr.To(2)
	if got := settings.LimitOfFailedPods(aJob().Obj()); got == nil || *got != 2 {
		t.Errorf("a Job without the annotation has the limit %v", got)
	}
	if got := settings.LimitOfFailedPods(aJob().Annotation(FailedPodsLimit, "5").Obj()); got == nil || *got != 5 {
		t.Errorf("a Job that asks for 5 has the limit %v", got)
	}
	if got := settings.LimitOfFailedPods(aJob().Annotation(FailedPodsLimit, "-1").Obj()); got == nil || *got != 2 {
		t.Errorf("a Job with an invalid annotation has the limit %v", got)
	}
}

func TestPodsRecordFailuresOnlyInJobsWithALimit(t *testing.T) {
	ended := []*corev1.Pod{aPod("a").Exited(1, at(10)).Obj(), aPod("b").Exited(1, at(20)).Obj()}
	recorded := map[string]string{FailuresBefore: "2", LastFailure: at(20).UTC().Format(time.RFC3339)}
	limited := func() *wrappers.JobWrapper { return aJob().Annotation(FailedPodsLimit, "1") }
	withTemplate := func(j *batchv1.Job) {
		j.Spec.Template.Annotations = map[string]string{FailuresBefore: "9", LastFailure: "1999-12-31T23:59:59Z"}
	}
	tests := map[string]struct {
		job  *batchv1.Job
		pods []*corev1.Pod
		want map[string]string
	}{
		"no limit": {aJob().Obj(), ended, map[string]string{}},
		"a limit":  {limited().Obj(), ended, recorded},
		"a limit, and a template that says something":     {limited().With(withTemplate).Obj(), ended, recorded},
		"nothing has failed, though the template says so": {limited().With(withTemplate).Obj(), nil, map[string]string{}},
		"upstream's count of an index is enough": {limited().Indexed().BackoffLimitPerIndex(3).Obj(),
			[]*corev1.Pod{aPod("a").Index(0).Exited(1, at(10)).Obj()},
			map[string]string{batchv1.JobCompletionIndexAnnotation: "0", batchv1.JobIndexFailureCountAnnotation: "1"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := Decide(observed(tt.job, tt.pods...))
			if len(d.Create) == 0 {
				t.Fatal("nothing is created")
			}
			if diff := cmp.Diff(tt.want, d.Create[0].Annotations); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNewPodsRequeueTheJob(t *testing.T) {
	obs := observed(aJob().Annotation(FailedPodsLimit, "0").Annotation(BackoffSeconds, "0").Obj())
	obs.FailedPods = []*corev1.Pod{aPod("a").Exited(1, at(10)).Finalizers().Obj()}
	obs.History.Add(obs.FailedPods[0])
	if d := Decide(obs); len(d.Create) == 0 || len(d.DeleteFailed) > 0 || !d.RequeueFair {
		t.Errorf("creates %v, removes %v, more %v", names(d.Create), names(d.DeleteFailed), d.RequeueFair)
	}
}

func TestPodsThatMayBeRemoved(t *testing.T) {
	tests := map[string]struct {
		pod  *corev1.Pod
		want bool
	}{
		"it failed and is counted":  {aPod("p").Exited(1, at(0)).Finalizers().Obj(), true},
		"it is still to be counted": {aPod("p").Exited(1, at(0)).Obj(), false},
		"it succeeded":              {aPod("p").Exited(0, at(0)).Finalizers().Obj(), false},
		"it runs":                   {aPod("p").Running().Finalizers().Obj(), false},
		"it goes anyway":            {aPod("p").Exited(1, at(0)).Finalizers().DeletionTimestamp(at(0)).Obj(), false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := CountedAsFailed(tt.pod); got != tt.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

// TestFailuresOfDeletedPodsAreKnown compares a Job with a history of all its pods: no matter which pods are deleted and when the
// controller restarts, it knows the failures in a row that the full history has. Only of the failures that it finds in the
// second of the last success, a restarted controller counts one, if it finds the success counted, and keeps it until a pod is
// created or succeeds.
func TestFailuresOfDeletedPodsAreKnown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := &keeper{t: t, limit: rapid.IntRange(0, 3).Draw(t, "limit"), now: epoch, pods: map[types.UID]*corev1.Pod{}}
		k.job = aJob().Annotation(FailedPodsLimit, strconv.Itoa(k.limit)).Annotation(BackoffSeconds, "1").Annotation(MaxBackoffSeconds, "8").
			Completions(1000).Parallelism(rapid.Int32Range(1, 4).Draw(t, "parallelism")).BackoffLimit(10_000).Obj()
		t.Repeat(map[string]func(*rapid.T){
			"sync":    func(*rapid.T) { k.sync() },
			"restart": func(*rapid.T) { k.restart() },
			"time": func(t *rapid.T) {
				k.now = k.now.Add(time.Duration(rapid.IntRange(1, 10).Draw(t, "seconds")) * time.Second)
			},
			"fail":       func(t *rapid.T) { k.end(t, 1) },
			"fail again": func(t *rapid.T) { k.end(t, 1) },
			"succeed": func(t *rapid.T) {
				if rapid.IntRange(0, 5).Draw(t, "really") == 0 {
					k.end(t, 0)
				}
			},
		})
		for range 4 {
			k.now = k.now.Add(time.Minute)
			k.sync()
		}
		if n := len(k.counted()); n > k.limit && !(n == k.limit+1 && k.foundInSecondOfSuccess()) {
			t.Fatalf("%d failed pods are kept with the limit %d", n, k.limit)
		}
	})
}

// keeper is a Job, its pods, and a controller that observes every change at once.
type keeper struct {
	t       *rapid.T
	limit   int
	now     time.Time
	job     *batchv1.Job
	pods    map[types.UID]*corev1.Pod
	made    int
	history History
	// all has the ends of all pods, including deleted ones.
	all History
	// restartedAt is when the controller has last restarted.
	restartedAt time.Time
	// foundUncounted is set if it then found a pod uncounted that succeeded last.
	foundUncounted bool
}

func (k *keeper) sorted() []*corev1.Pod {
	var pods []*corev1.Pod
	for i := range k.made {
		if p := k.pods[types.UID(podNumber(i))]; p != nil {
			pods = append(pods, p)
		}
	}
	return pods
}

func (k *keeper) counted() []*corev1.Pod {
	return slices.DeleteFunc(k.sorted(), func(p *corev1.Pod) bool { return !CountedAsFailed(p) })
}

func (k *keeper) restart() {
	k.history, k.restartedAt, k.foundUncounted = History{}, k.now, false
	for _, p := range k.sorted() {
		if podstatus.IsTerminated(p) {
			k.history.Add(p)
		}
		if p.Status.Phase != corev1.PodSucceeded || !EndedAt(p).Equal(k.all.lastSuccess) {
			continue
		}
		if k.foundUncounted = k.foundUncounted || HasFinalizer(p); !HasFinalizer(p) {
			k.all.Decided() // by the former controller
		}
	}
}

func (k *keeper) end(t *rapid.T, code int32) {
	living := slices.DeleteFunc(k.sorted(), podstatus.IsTerminated)
	if len(living) == 0 {
		t.Skip("no pod lives")
	}
	p := rapid.SampledFrom(living).Draw(t, "pod").DeepCopy()
	wrappers.FromPod(p).Exited(code, metav1.NewTime(k.now))
	k.pods[p.UID] = p
	silent := p.DeepCopy()
	silent.Annotations = nil // The full history must not depend on backoff records.
	k.history.Observe(p)
	k.all.Observe(silent)
}

func (k *keeper) sync() {
	obs := Observation{Job: k.job, Now: k.now, History: k.history, FailedPods: k.counted(), Settings: DefaultSettings()}
	obs.Pods = slices.DeleteFunc(k.sorted(), func(p *corev1.Pod) bool { return !IsRelevant(p) })
	k.history.Decided()
	k.all.Decided()
	k.checkFailuresInARow(failuresInARow(newView(obs)))
	d := Decide(obs)
	for _, p := range d.Create {
		p.Name, p.UID = podNumber(k.made), types.UID(podNumber(k.made))
		p.CreationTimestamp = metav1.NewTime(k.now)
		k.pods[p.UID] = p
		k.made++
	}
	if next, _ := d.Status(Outcome{}); next != nil {
		k.job = k.job.DeepCopy()
		k.job.Status = *next
	}
	for _, p := range d.RemoveFinalizer {
		k.history.Add(p)
		p = p.DeepCopy()
		RemoveFinalizer(p)
		k.pods[p.UID] = p
	}
	for _, p := range d.DeleteFailed {
		if !CountedAsFailed(k.pods[p.UID]) {
			k.t.Fatalf("pod %s is removed before it is counted", p.UID)
		}
		delete(k.pods, p.UID)
	}
	if kept := len(k.counted()); kept < min(k.limit, len(obs.FailedPods)) {
		k.t.Fatal(fmt.Sprintf("%d failed pods are left of %d with the limit %d", kept, len(obs.FailedPods), k.limit))
	}
}

// foundInSecondOfSuccess reports whether the controller found a failed pod that ended in the second of the last success.
func (k *keeper) foundInSecondOfSuccess() bool {
	return k.hasRestartedSinceSuccess() && slices.ContainsFunc(k.counted(), func(p *corev1.Pod) bool {
		return EndedAt(p).Equal(k.all.lastSuccess)
	})
}

func (k *keeper) hasRestartedSinceSuccess() bool { return !k.restartedAt.Before(k.all.lastSuccess) }

func (k *keeper) checkFailuresInARow(n int, last time.Time) {
	want, wantLast := k.all.sinceSuccess()
	least, most := want, want
	if k.hasRestartedSinceSuccess() {
		found := 0 // after the success in its second, perhaps before the restart
		for _, f := range k.all.failures {
			if f.at.Equal(k.all.lastSuccess) && !f.beforeSuccess {
				found++
			}
		}
		if !k.foundUncounted {
			found = max(0, found-1)
		}
		least, most = want-found, want+1
	}
	n = min(n, maxRecordedFailures)
	if n < least || n > most || n > 0 && want > 0 && !last.Equal(wantLast) {
		k.t.Fatalf("knows of %d failures in a row until %v, there were %d until %v", n, last, want, wantLast)
	}
}

// removeFailed deletes a failed pod as the controller does, by its stored version.
func (w *world) removeFailed(p *corev1.Pod) {
	stored := w.pods[p.UID]
	if stored == nil || w.fails("removal") {
		return
	}
	if !CountedAsFailed(stored) {
		w.t.Fatalf("pod %s (%s, finalizers %v) is removed before it is counted", p.UID, stored.Status.Phase, stored.Finalizers)
	}
	delete(w.pods, p.UID)
}

// deleteExcessFailedPods deletes the failed pods of the finished Job that are beyond its limit.
func (w *world) deleteExcessFailedPods() {
	limit := DefaultSettings().LimitOfFailedPods(w.job)
	if limit == nil {
		return
	}
	var failed []*corev1.Pod
	for _, uid := range w.uids() {
		if p := w.pods[uid]; p != nil && CountedAsFailed(p) {
			failed = append(failed, p)
		}
	}
	left := DefaultSettings().ExcessFailedPods(w.job, failed)
	for _, p := range left {
		w.removeFailed(p)
	}
	if kept := len(failed) - len(left); kept > *limit || len(left) > 0 && kept < *limit {
		w.t.Fatalf("%d failed pods are left of %d with the limit %d", kept, len(failed), *limit)
	}
}
