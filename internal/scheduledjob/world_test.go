package scheduledjob

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"pgregory.net/rapid"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	jobcore "github.com/stint-dev/stint/internal/job"
)

// world is a small API server and a controller for one ScheduledJob, with the faults that can happen between them.
type world struct {
	t   *rapid.T
	now time.Time
	// sj and jobs, by tag, are what is stored; version is that of sj.
	sj      *stintv1.ScheduledJob
	version int
	jobs    map[string]*batchv1.Job
	made    int
	// template reports whether the pod template exists.
	template bool

	// observed are the Jobs that the controller has observed: an old state of the store, and its own writes.
	observed map[string]*batchv1.Job
	// unclear are Jobs that may exist, as the controller knows, but that the status does not list as started.
	unclear sets.Set[string]
	faults  bool
	ledger  *ledger
}

func newWorld(t *rapid.T, sj *stintv1.ScheduledJob) *world {
	w := &world{t: t, now: sj.CreationTimestamp.Time, sj: sj, jobs: map[string]*batchv1.Job{}, template: true, faults: true}
	w.ledger = newLedger(w)
	w.restart()
	return w
}

// restart starts a new controller, which has observed all that is stored.
func (w *world) restart() {
	w.observed, w.unclear = maps.Clone(w.jobs), sets.New[string]()
}

// show lets the controller observe one Job as it is stored.
func (w *world) show(tag string) {
	if job, exists := w.jobs[tag]; exists {
		w.observed[tag] = job
		return
	}
	delete(w.observed, tag)
}

func (w *world) showAll() {
	for _, tag := range w.tags() {
		w.show(tag)
	}
}

func (w *world) tags() []string {
	return slices.Sorted(maps.Keys(sets.KeySet(w.jobs).Union(sets.KeySet(w.observed))))
}

// observation observes as the controller has to: it gets the Jobs live that may exist and that it has not observed.
func (w *world) observation() Observation {
	sure := w.unclear.Clone()
	for _, name := range JobsToGetLive(w.sj) {
		tag, _ := tagOf(w.sj.Name, name)
		sure.Insert(tag)
	}
	for tag := range sure {
		if w.observed[tag] == nil {
			w.show(tag)
		}
	}
	obs := Observation{ScheduledJob: w.sj.DeepCopy(), Now: w.now, ExitCodes: map[types.UID][]stintv1.ExitCode{}}
	for _, tag := range slices.Sorted(maps.Keys(w.observed)) {
		obs.Jobs = append(obs.Jobs, w.observed[tag])
	}
	if w.template {
		obs.Template = w.sj.Spec.Template
	}
	return obs
}

// happens draws whether something goes wrong, once in n times.
func (w *world) happens(n int, what string) bool {
	return w.faults && rapid.IntRange(0, n-1).Draw(w.t, what) == n-1
}

// sync decides and applies once. Users may act in between, and the controller may crash between any two steps.
func (w *world) sync() Decision {
	obs, version := w.observation(), w.version
	d := Decide(obs)
	w.ledger.checkDecision(obs, d)
	if w.happens(12, "crash before") {
		w.restart()
		return d
	}
	outcomes := w.create(d)
	if w.happens(12, "crash after creations") {
		w.restart()
		return d
	}
	if w.happens(8, "meddle") {
		w.userActs()
	}
	if !w.store(obs, d, outcomes, version) {
		return d
	}
	if w.happens(12, "crash after status") {
		w.restart()
		return d
	}
	for _, job := range d.Delete {
		tag, _ := tagOf(w.sj.Name, job.Name)
		if !w.happens(6, "delete fails") {
			w.ledger.checkDelete(job)
			delete(w.jobs, tag)
		}
	}
	return d
}

// create creates the Jobs, all or only the first ones.
func (w *world) create(d Decision) []Outcome {
	var outcomes []Outcome
	for i, job := range d.Create {
		if w.happens(10, "not tried") {
			return outcomes
		}
		outcomes = append(outcomes, w.createOne(d.starts[i], job))
	}
	return outcomes
}

func (w *world) createOne(tag string, job *batchv1.Job) Outcome {
	resource := schema.GroupResource{Group: "batch", Resource: "jobs"}
	switch {
	case w.happens(10, "refused for now"):
		return Outcome{Err: apierrors.NewForbidden(resource, job.Name, errors.New("quota"))}
	case w.jobs[tag] == nil && w.happens(15, "refused for ever"):
		w.ledger.refused.Insert(tag)
		return Outcome{Err: apierrors.NewInvalid(schema.GroupKind{Kind: "Job"}, job.Name, nil)}
	}
	if w.jobs[tag] == nil {
		w.ledger.checkCreate(tag)
		w.made++
		job = job.DeepCopy()
		job.UID = types.UID(fmt.Sprintf("job-%03d", w.made))
		job.CreationTimestamp = metav1.NewTime(w.now)
		w.jobs[tag] = job
	}
	if w.happens(8, "answer lost") {
		w.unclear.Insert(tag)
		return Outcome{Err: apierrors.NewTimeoutError("no answer", 1)}
	}
	if w.observed[tag] == nil {
		w.observed[tag] = w.jobs[tag]
	}
	return Outcome{Job: w.jobs[tag]}
}

// store writes the status unless a user has changed the ScheduledJob or the write is lost. It reports whether the
// controller knows that the write succeeded.
func (w *world) store(obs Observation, d Decision, outcomes []Outcome, version int) bool {
	next := d.Status(outcomes)
	w.ledger.checkPure(obs, d, outcomes)
	if version != w.version || w.happens(10, "status lost") {
		return false
	}
	w.ledger.checkStatus(obs, d, outcomes)
	w.update(func(sj *stintv1.ScheduledJob) { sj.Status = next })
	if w.happens(10, "answer of status lost") {
		return false
	}
	w.unclear = sets.New[string]()
	return true
}

func (w *world) update(change func(*stintv1.ScheduledJob)) {
	sj := w.sj.DeepCopy()
	change(sj)
	w.sj = sj
	w.version++
}

// edit is an update of the spec.
func (w *world) edit(change func(*stintv1.ScheduledJobSpec)) {
	w.update(func(sj *stintv1.ScheduledJob) {
		change(&sj.Spec)
		sj.Generation++
	})
}

// finish finishes a stored Job, unless it is finished already or shielded.
func (w *world) finish(tag string, well bool) {
	job := w.jobs[tag].DeepCopy()
	if jobcore.Finished(job) || w.ledger.shielded.Has(tag) {
		return
	}
	c := batchv1.JobCondition{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Reason: "FailedIndexes", LastTransitionTime: metav1.NewTime(w.now)}
	if well {
		c.Type, c.Reason = batchv1.JobComplete, "CompletionsReached"
	}
	job.Status.Conditions = append(job.Status.Conditions, c)
	w.jobs[tag] = job
}
