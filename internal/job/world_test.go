package job

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/stint-dev/stint/internal/podstatus"
)

// world is a small API server, node and shell around one Job. Everything in it can go wrong that can go wrong for a
// real controller: writes get lost, the cache of pods is stale, the controller dies at any step.
type world struct {
	t   *rapid.T
	now time.Time
	// job and pods are what is stored.
	job  *batchv1.Job
	pods map[types.UID]*corev1.Pod
	made int
	// seenJob and seen are what the controller knows: old versions from the store, and new ones from its own writes.
	seenJob *batchv1.Job
	seen    map[types.UID]*corev1.Pod
	flight  InFlight
	history History
	ledger  ledger
	// faults is set while writes may fail.
	faults bool
	// terminatedLimit is Settings.TerminatedPodsLimit.
	terminatedLimit int
	// leftByAnother is how many terminated pods another Job has left.
	leftByAnother int
	// scaled is set once completions have changed.
	scaled bool
}

func newWorld(t *rapid.T, job *batchv1.Job) *world {
	w := &world{t: t, now: time.Unix(1_700_000_000, 0), job: job, pods: map[types.UID]*corev1.Pod{}, faults: true}
	w.job.ResourceVersion = "1"
	w.ledger = newLedger()
	w.restart()
	return w
}

// restart replaces the controller by a new one, which knows only what is stored.
func (w *world) restart() {
	w.flight = InFlight{Deleted: sets.New[types.UID](), FinalizerRemoved: sets.New[types.UID]()}
	w.history = History{}
	w.seenJob = w.job
	w.seen = maps.Clone(w.pods)
	found := slices.DeleteFunc(slices.Collect(maps.Values(w.pods)), func(p *corev1.Pod) bool { return !endedByItself(p) })
	for _, p := range found {
		w.history.Add(p)
	}
	w.ledger.found(found)
}

// stamp is the time as the API stores it: in whole seconds.
func (w *world) stamp() metav1.Time { return metav1.NewTime(w.now.Truncate(time.Second)) }

func endedByItself(p *corev1.Pod) bool {
	return podstatus.IsTerminated(p) && (p.DeletionTimestamp == nil || HasFinalizer(p))
}

// show makes the controller observe the stored version of one pod.
func (w *world) show(uid types.UID) {
	p, exists := w.pods[uid]
	if !exists {
		delete(w.seen, uid)
		w.flight.Deleted.Delete(uid)
		w.flight.FinalizerRemoved.Delete(uid)
		return
	}
	before := w.seen[uid]
	w.seen[uid] = p
	if p.DeletionTimestamp != nil {
		w.flight.Deleted.Delete(uid)
	}
	if !HasFinalizer(p) {
		w.flight.FinalizerRemoved.Delete(uid)
	}
	switch {
	case !endedByItself(p):
	case before != nil && !podstatus.IsTerminated(before):
		w.history.Observe(p)
		w.ledger.observed(p)
	default:
		w.history.Add(p)
	}
}

func (w *world) showAll() {
	w.seenJob = w.job
	for _, uid := range w.uids() {
		w.show(uid)
	}
}

// uids are those of all pods that are stored or seen.
func (w *world) uids() []types.UID {
	all := sets.KeySet(w.pods).Union(sets.KeySet(w.seen))
	return slices.Sorted(maps.Keys(all))
}

// change stores a new version of a pod. All writes by the node and by users use it.
func (w *world) change(uid types.UID, change func(*corev1.Pod)) {
	p := w.pods[uid].DeepCopy()
	change(p)
	w.pods[uid] = p
	if p.DeletionTimestamp != nil && podstatus.IsTerminated(p) && !HasFinalizer(p) {
		delete(w.pods, uid)
	}
}

func (w *world) observation() Observation {
	obs := Observation{Job: w.seenJob, Now: w.now, InFlight: InFlight{w.flight.Deleted.Clone(), w.flight.FinalizerRemoved.Clone()},
		History: w.history, Settings: DefaultSettings()}
	obs.MaxUncountedPods, obs.MaxPodCreateDelete, obs.TerminatedPodsLimit = listLimit, 4, w.terminatedLimit
	for _, uid := range slices.Sorted(maps.Keys(w.seen)) {
		obs.Pods = append(obs.Pods, w.seen[uid])
		if CountedAsFailed(w.seen[uid]) {
			obs.FailedPods = append(obs.FailedPods, w.seen[uid])
		}
		if IsLeft(w.seen[uid]) {
			obs.TerminatedPods.OfJob++
		}
	}
	n := &obs.TerminatedPods
	n.Most, n.Total = max(n.OfJob, w.leftByAnother), n.OfJob+w.leftByAnother
	return obs
}

// fails draws whether the next write, or the answer to it, fails.
func (w *world) fails(what string) bool {
	return w.faults && rapid.IntRange(0, 9).Draw(w.t, what+" fails") == 0
}

// sync decides and applies once, and returns the decision.
func (w *world) sync() Decision {
	obs := w.observation()
	w.history.Decided()
	d := Decide(obs)
	w.ledger.checkDecision(w, obs, d)
	crash := -1
	if w.faults {
		crash = rapid.IntRange(-20, 4).Draw(w.t, "crash")
	}
	w.apply(d, crash)
	if crash >= 0 {
		w.restart()
	}
	return d
}

// apply applies d in the order that Decision prescribes, up to the step number crash.
func (w *world) apply(d Decision, crash int) {
	if crash == 0 {
		return
	}
	o := Outcome{}
	for _, p := range d.Create {
		if w.fails("create") {
			o.NotCreated++
			continue
		}
		w.create(p)
	}
	for _, p := range d.DeleteWithoutCounting {
		if w.fails("delete uncounted") {
			o.NotDeleted = append(o.NotDeleted, p)
			continue
		}
		w.ledger.deletedUncounted.Insert(p.UID)
		w.removeFinalizer(p)
		w.remove(p)
	}
	for _, p := range d.Delete {
		if w.fails("delete") {
			o.NotDeleted = append(o.NotDeleted, p)
			continue
		}
		w.remove(p)
	}
	if crash == 1 || !w.store(d, o) || crash == 2 {
		return
	}
	for _, p := range d.FinalizersToRemove(o) {
		if !w.fails("remove finalizer") {
			w.ledger.checkFinalizerRemoval(w, p)
			w.removeFinalizer(p)
			if slices.Contains(d.DeleteCounted, p) {
				w.vanish(p)
			}
		}
	}
	for _, p := range d.DeleteFailed {
		w.removeFailed(p)
	}
}

func (w *world) create(p *corev1.Pod) {
	w.made++
	p = p.DeepCopy()
	p.UID = types.UID(fmt.Sprintf("pod-%04d", w.made))
	p.Name = p.GenerateName + strconv.Itoa(w.made)
	p.CreationTimestamp = w.stamp()
	p.Status.Phase = corev1.PodPending
	w.pods[p.UID], w.seen[p.UID] = p, p
	w.ledger.created(w, p)
}

// remove deletes a pod. The controller learns that the deletion was accepted, not what became of the pod.
func (w *world) remove(p *corev1.Pod) {
	if w.pods[p.UID] == nil {
		return
	}
	if w.pods[p.UID].DeletionTimestamp == nil {
		w.change(p.UID, func(p *corev1.Pod) { p.DeletionTimestamp = ptr.To(w.stamp()) })
	}
	if w.seen[p.UID].DeletionTimestamp == nil {
		w.flight.Deleted.Insert(p.UID)
	}
}

func (w *world) removeFinalizer(p *corev1.Pod) {
	if w.pods[p.UID] != nil {
		w.change(p.UID, RemoveFinalizer)
	}
	w.flight.FinalizerRemoved.Insert(p.UID)
	w.history.Add(p)
}

// vanish removes a pod that has lost its finalizer in the same write.
func (w *world) vanish(p *corev1.Pod) {
	delete(w.pods, p.UID)
	w.show(p.UID)
}

// store writes the status unless another client changed the Job or the write gets lost; it reports whether the controller
// may go on to the steps after it.
func (w *world) store(d Decision, o Outcome) bool {
	next, urgency := d.Status(o)
	if next == nil {
		return true
	}
	if urgency != Immediate && w.faults && rapid.Bool().Draw(w.t, "wait") {
		return urgency == Deferrable
	}
	if w.seenJob.ResourceVersion != w.job.ResourceVersion || w.fails("status") {
		return false
	}
	w.ledger.checkStatus(w, next)
	w.updateJob(func(j *batchv1.Job) { j.Status = *next })
	if w.fails("answer") {
		return false
	}
	w.seenJob = w.job
	return true
}

func (w *world) updateJob(change func(*batchv1.Job)) {
	j := w.job.DeepCopy()
	change(j)
	version, _ := strconv.Atoi(j.ResourceVersion)
	j.ResourceVersion = strconv.Itoa(version + 1)
	w.job = j
}
