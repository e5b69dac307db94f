package scenario_test

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// knownCron is a CronJob with what is known from its earlier writes.
type knownCron struct {
	*batchv1.CronJob
	// made are the Jobs that it ever controlled; times are those that had one.
	made  map[types.UID]bool
	times map[string]bool
}

// takeCron applies a write of a CronJob and returns the invariants that it breaks.
func (w *world) takeCron(c *batchv1.CronJob, gone bool) []string {
	if gone {
		delete(w.crons, c.UID)
		return nil
	}
	known := w.crons[c.UID]
	if known == nil {
		known = &knownCron{CronJob: &batchv1.CronJob{}, made: map[types.UID]bool{}, times: map[string]bool{}}
		w.crons[c.UID] = known
	}
	var broken []string
	for _, rule := range cronRules {
		if !rule.holds(w, known, c) {
			broken = append(broken, rule.says)
		}
	}
	known.CronJob = c
	return broken
}

// knownScheduled is a ScheduledJob with what is known from its earlier writes.
type knownScheduled struct {
	*stintv1.ScheduledJob
	// tags are those of the Jobs that it ever had.
	tags map[string]bool
	// concurrent is set once it has allowed concurrent runs.
	concurrent bool
}

// takeScheduled applies a write of a ScheduledJob and returns the invariants that it breaks.
func (w *world) takeScheduled(o *stintv1.ScheduledJob, gone bool) []string {
	if gone {
		delete(w.scheduled, o.UID)
		return nil
	}
	known := w.scheduled[o.UID]
	if known == nil {
		known = &knownScheduled{ScheduledJob: &stintv1.ScheduledJob{}, tags: map[string]bool{}}
		w.scheduled[o.UID] = known
	}
	known.concurrent = known.concurrent || ptr.Deref(o.Spec.AllowConcurrentRun, true)
	var broken []string
	for _, rule := range scheduledRules {
		if !rule.holds(w, known, o) {
			broken = append(broken, rule.says)
		}
	}
	known.ScheduledJob = o
	return broken
}

// takeRun returns the invariants that a new Job of a CronJob or ScheduledJob breaks.
func (w *world) takeRun(j *batchv1.Job) []string {
	ref := metav1.GetControllerOfNoCopy(j)
	if ref == nil {
		return nil
	}
	var broken []string
	if c := w.crons[ref.UID]; c != nil {
		for _, rule := range cronRunRules {
			if !rule.holds(w, c, j) {
				broken = append(broken, rule.says)
			}
		}
		c.made[j.UID] = true
		c.times[j.Annotations[batchv1.CronJobScheduledTimestampAnnotation]] = true
	}
	if o := w.scheduled[ref.UID]; o != nil {
		for _, rule := range scheduledRunRules {
			if !rule.holds(w, o, j) {
				broken = append(broken, rule.says)
			}
		}
		o.tags[j.Labels[stintv1.LabelJobTag]] = true
	}
	return broken
}

// beside reports whether another run of the owner is active.
func (w *world) beside(owner types.UID, j *batchv1.Job, which func(*batchv1.Job) bool) bool {
	for _, o := range w.jobs {
		if o.UID != j.UID && controls(owner, o.Job) && !finished(o.Job) && o.DeletionTimestamp == nil && which(o.Job) {
			return true
		}
	}
	return false
}

// neverBack checks that a time has not become earlier.
func neverBack(was, now *metav1.Time) bool {
	return was == nil || now != nil && !now.Before(was)
}

// distinct checks that no two are equal.
func distinct[T comparable](list []T) bool {
	for i, o := range list {
		if slices.Contains(list[:i], o) {
			return false
		}
	}
	return true
}
