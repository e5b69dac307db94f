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
)

func withFailuresBefore(n, last int) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Annotations[FailuresBefore] = strconv.Itoa(n)
		p.Annotations[LastFailure] = at(last).UTC().Format(time.RFC3339)
	}
}

func TestFailedPodsBeyondTheLimit(t *testing.T) {
	counted := func(name string, end int, changes ...func(*corev1.Pod)) *corev1.Pod {
		return aPod(name, slices.Concat([]func(*corev1.Pod){exited(1, end), released}, changes)...)
	}
	failures := []*corev1.Pod{counted("a", 10), counted("b", 20), counted("c", 30)}
	limit := func(n int) func(*batchv1.Job) { return withAnnotations(FailedPodsLimit, strconv.Itoa(n)) }
	failing := withCondition(batchv1.JobFailureTarget, "x")
	tests := map[string]struct {
		job    *batchv1.Job
		pods   []*corev1.Pod
		failed []*corev1.Pod
		want   []string
	}{
		"without a limit all stay":                         {aJob(failing), nil, failures, nil},
		"the newest stay":                                  {aJob(limit(1), failing), nil, failures, []string{"a", "b"}},
		"none stay where none shall":                       {aJob(limit(0), failing), nil, failures, []string{"a", "b", "c"}},
		"a limit that is not reached removes none":         {aJob(limit(3), failing), nil, failures, nil},
		"while no pod tells of them they stay":             {aJob(limit(0)), nil, failures, nil},
		"a later pod tells of them":                        {aJob(limit(0)), []*corev1.Pod{aPod("n", withFailuresBefore(3, 30))}, failures, []string{"a", "b", "c"}},
		"it does not tell of what came later":              {aJob(limit(0)), []*corev1.Pod{aPod("n", withFailuresBefore(2, 20))}, failures, []string{"a", "b"}},
		"one that ends tells nothing":                      {aJob(limit(0)), []*corev1.Pod{aPod("n", withFailuresBefore(3, 30), running, deleted)}, failures, nil},
		"a failed pod that stays tells of those before it": {aJob(limit(1)), nil, []*corev1.Pod{failures[0], counted("b", 20, withFailuresBefore(1, 10))}, []string{"a"}},
		"one that goes itself does not":                    {aJob(limit(0)), nil, []*corev1.Pod{failures[0], counted("b", 20, withFailuresBefore(1, 10))}, nil},
		"a success makes those before it matter no more":   {aJob(limit(0)), []*corev1.Pod{aPod("s", exited(0, 25))}, failures, []string{"a", "b"}},
		"an index has its own count": {aJob(limit(0), withIndexes, func(j *batchv1.Job) { j.Spec.BackoffLimitPerIndex = ptr.To[int32](3) }),
			nil, failures, []string{"a", "b", "c"}},
		"a failure of the Job that is not stored yet may be forgotten": {aJob(limit(0), func(j *batchv1.Job) {
			j.Spec.BackoffLimit, j.Status.Failed = ptr.To[int32](2), 3
		}), nil, failures, nil},
		"who deletes the Job decides about its pods": {aJob(limit(0), failing, func(j *batchv1.Job) { j.DeletionTimestamp = ptr.To(at(0)) }), nil, failures, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			obs := seen(tt.job, tt.pods...)
			obs.FailedPods = tt.failed
			if diff := cmp.Diff(tt.want, names(Decide(obs).Remove)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTheControllersLimitIsForJobsThatSayNothing(t *testing.T) {
	settings := DefaultSettings()
	settings.FailedPodsLimit = ptr.To(2)
	if got := settings.LimitOfFailedPods(aJob()); got == nil || *got != 2 {
		t.Errorf("a Job that says nothing has the limit %v", got)
	}
	if got := settings.LimitOfFailedPods(aJob(withAnnotations(FailedPodsLimit, "5"))); got == nil || *got != 5 {
		t.Errorf("a Job that asks for 5 has the limit %v", got)
	}
	if got := settings.LimitOfFailedPods(aJob(withAnnotations(FailedPodsLimit, "-1"))); got == nil || *got != 2 {
		t.Errorf("a Job that asks for what cannot be has the limit %v", got)
	}
}

func TestPodsTellOfFailuresOnlyInJobsWithALimit(t *testing.T) {
	ended := []*corev1.Pod{aPod("a", exited(1, 10)), aPod("b", exited(1, 20))}
	told := map[string]string{FailuresBefore: "2", LastFailure: at(20).UTC().Format(time.RFC3339)}
	limited := withAnnotations(FailedPodsLimit, "1")
	lying := func(j *batchv1.Job) {
		j.Spec.Template.Annotations = map[string]string{FailuresBefore: "9", LastFailure: "1999-12-31T23:59:59Z"}
	}
	tests := map[string]struct {
		job  *batchv1.Job
		pods []*corev1.Pod
		want map[string]string
	}{
		"no limit": {aJob(), ended, map[string]string{}},
		"a limit":  {aJob(limited), ended, told},
		"a limit, and a template that says something":     {aJob(limited, lying), ended, told},
		"nothing has failed, though the template says so": {aJob(limited, lying), nil, map[string]string{}},
		"upstream's count of an index is enough": {aJob(limited, withIndexes, func(j *batchv1.Job) { j.Spec.BackoffLimitPerIndex = ptr.To[int32](3) }),
			[]*corev1.Pod{aPod("a", withIndex(0), exited(1, 10))},
			map[string]string{batchv1.JobCompletionIndexAnnotation: "0", batchv1.JobIndexFailureCountAnnotation: "1"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := Decide(seen(tt.job, tt.pods...))
			if len(d.Create) == 0 {
				t.Fatal("nothing is created")
			}
			if diff := cmp.Diff(tt.want, d.Create[0].Annotations); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNewPodsHaveTheJobLookedAtAgain(t *testing.T) {
	obs := seen(aJob(withAnnotations(FailedPodsLimit, "0", BackoffSeconds, "0")))
	obs.FailedPods = []*corev1.Pod{aPod("a", exited(1, 10), released)}
	obs.History.Record(obs.FailedPods[0])
	if d := Decide(obs); len(d.Create) == 0 || len(d.Remove) > 0 || !d.More {
		t.Errorf("creates %v, removes %v, more %v", names(d.Create), names(d.Remove), d.More)
	}
}

func TestPodsThatMayBeRemoved(t *testing.T) {
	tests := map[string]struct {
		pod  *corev1.Pod
		want bool
	}{
		"it failed and is counted":  {aPod("p", exited(1, 0), released), true},
		"it is still to be counted": {aPod("p", exited(1, 0)), false},
		"it succeeded":              {aPod("p", succeeded, released), false},
		"it runs":                   {aPod("p", running, released), false},
		"it goes anyway":            {aPod("p", exited(1, 0), released, deleted), false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := CountedAsFailed(tt.pod); got != tt.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

// TestRemovedPodsAreRemembered plays a Job beside a list of all pods that ever were: whatever is removed and whenever
// the controller restarts, the failures in a row are those that the list tells.
func TestRemovedPodsAreRemembered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := &keeper{t: t, limit: rapid.IntRange(0, 3).Draw(t, "limit"), now: epoch, pods: map[types.UID]*corev1.Pod{}}
		k.job = aJob(withAnnotations(FailedPodsLimit, strconv.Itoa(k.limit), BackoffSeconds, "1", MaxBackoffSeconds, "8"), func(j *batchv1.Job) {
			j.Spec.Completions, j.Spec.Parallelism = ptr.To[int32](1000), ptr.To(rapid.Int32Range(1, 4).Draw(t, "parallelism"))
			j.Spec.BackoffLimit = ptr.To[int32](10_000)
		})
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
		if n := len(k.counted()); n > k.limit {
			t.Fatalf("%d failed pods are kept with the limit %d", n, k.limit)
		}
	})
}

// keeper is a Job, its pods, and a controller that sees all at once.
type keeper struct {
	t       *rapid.T
	limit   int
	now     time.Time
	job     *batchv1.Job
	pods    map[types.UID]*corev1.Pod
	made    int
	history History
	// all has the end of every pod that ever was.
	all History
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
	k.history = History{}
	for _, p := range k.sorted() {
		if Ended(p) {
			k.history.Record(p)
		}
	}
}

func (k *keeper) end(t *rapid.T, code int32) {
	living := slices.DeleteFunc(k.sorted(), Ended)
	if len(living) == 0 {
		t.Skip("no pod lives")
	}
	p := rapid.SampledFrom(living).Draw(t, "pod").DeepCopy()
	exited(code, int(k.now.Sub(epoch).Seconds()))(p)
	k.pods[p.UID] = p
	silent := p.DeepCopy()
	silent.Annotations = nil // The list needs nobody's word for it.
	k.all.Record(silent)
}

func (k *keeper) sync() {
	obs := Observation{Job: k.job, Now: k.now, History: k.history, FailedPods: k.counted(), Settings: DefaultSettings()}
	obs.Pods = slices.DeleteFunc(k.sorted(), func(p *corev1.Pod) bool { return !Matters(p) })
	n, last := failuresInARow(look(obs))
	want, wantLast := k.all.sinceSuccess()
	if min(n, remembered) != want || !last.Equal(wantLast) {
		k.t.Fatalf("knows of %d failures in a row until %v, there were %d until %v", n, last, want, wantLast)
	}
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
	for _, p := range d.Release {
		k.history.Record(p)
		p = p.DeepCopy()
		RemoveFinalizer(p)
		k.pods[p.UID] = p
	}
	for _, p := range d.Remove {
		if !CountedAsFailed(k.pods[p.UID]) {
			k.t.Fatalf("pod %s is removed before it is counted", p.UID)
		}
		delete(k.pods, p.UID)
	}
	if kept := len(k.counted()); kept < min(k.limit, len(obs.FailedPods)) {
		k.t.Fatal(fmt.Sprintf("%d failed pods are left of %d with the limit %d", kept, len(obs.FailedPods), k.limit))
	}
}

// removeFailed deletes a failed pod as the controller does, of what is stored now.
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

// checkLeftOver has the failed pods of the finished Job removed that are too many.
func (w *world) checkLeftOver() {
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
	left := DefaultSettings().LeftOver(w.job, failed)
	for _, p := range left {
		w.removeFailed(p)
	}
	if kept := len(failed) - len(left); kept > *limit || len(left) > 0 && kept < *limit {
		w.t.Fatalf("%d failed pods are left of %d with the limit %d", kept, len(failed), *limit)
	}
}
