package cronjob_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/stint-dev/stint/internal/cronjob"
	jobcore "github.com/stint-dev/stint/internal/job"
)

// history is a CronJob in a random sequence of actions, with checks of what must hold after each.
type history struct {
	cj   *batchv1.CronJob
	jobs map[string]*batchv1.Job
	now  time.Time
	// period is that of the schedule, whose due times are its multiples since 1970.
	period time.Duration
	// since is when the schedule was last changed.
	since time.Time
	// started has the names of all Jobs that were created for a due time.
	started map[string]bool
	made    int
}

// schedules by period. Each is due at the multiples of its period.
var schedules = map[time.Duration]string{
	time.Minute: "* * * * *", 5 * time.Minute: "*/5 * * * *", time.Hour: "0 * * * *", 24 * time.Hour: "@daily",
}

func TestAnyHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := &history{jobs: map[string]*batchv1.Job{}, now: at("09:30:17"), started: map[string]bool{}}
		h.cj = hourly().cj
		h.cj.CreationTimestamp = metav1.NewTime(h.now)
		h.reschedule(t)
		h.edit(t)
		t.Repeat(map[string]func(*rapid.T){
			"time":       h.timePasses,
			"time again": h.timePasses,
			"clock set":  h.clockJumps,
			"edit":       h.edit,
			"reschedule": h.reschedule,
			"on demand":  h.onDemand,
			"end":        h.endJob,
			"delete":     h.deleteJob,
			"sync": func(t *rapid.T) {
				h.sync(t, rapid.SampledFrom([]fault{none, none, lostStatus, crash}).Draw(t, "fault"))
			},
		})
		h.sync(t, none)
		h.sync(t, none)
		h.checkEnd(t)
	})
}

func (h *history) timePasses(t *rapid.T) {
	h.now = h.now.Add(time.Duration(rapid.IntRange(1, 4000).Draw(t, "seconds")) * time.Second)
}

// clockJumps sets the clock forward or back.
func (h *history) clockJumps(t *rapid.T) {
	h.now = h.now.Add(time.Duration(rapid.IntRange(-4*24, 4*24).Draw(t, "hours")) * time.Hour)
}

func (h *history) edit(t *rapid.T) {
	s := &h.cj.Spec
	s.ConcurrencyPolicy = rapid.SampledFrom([]batchv1.ConcurrencyPolicy{
		batchv1.AllowConcurrent, batchv1.ForbidConcurrent, batchv1.ReplaceConcurrent}).Draw(t, "policy")
	s.Suspend = ptr.To(rapid.IntRange(0, 4).Draw(t, "suspend") == 0)
	s.SuccessfulJobsHistoryLimit = ptr.To(rapid.Int32Range(0, 3).Draw(t, "successful"))
	s.StartingDeadlineSeconds = nil
	if rapid.Bool().Draw(t, "has a deadline") {
		s.StartingDeadlineSeconds = ptr.To(rapid.Int64Range(0, 5000).Draw(t, "deadline"))
	}
}

func (h *history) reschedule(t *rapid.T) {
	h.period = rapid.SampledFrom([]time.Duration{time.Minute, 5 * time.Minute, time.Hour, 24 * time.Hour}).Draw(t, "period")
	h.cj.Spec.Schedule, h.since = schedules[h.period], h.now
}

func (h *history) create(j *batchv1.Job) *batchv1.Job {
	h.made++
	j = j.DeepCopy()
	j.UID, j.CreationTimestamp = types.UID(fmt.Sprint("job-", h.made)), metav1.NewTime(h.now.Truncate(time.Second))
	h.jobs[j.Name] = j
	return j
}

func (h *history) onDemand(t *rapid.T) {
	blocker := cronjob.Blocker(h.cj, h.list())
	j := h.create(manualRun(fmt.Sprint("manual-", h.made), "00:00:00"))
	if blocker != nil && rapid.Bool().Draw(t, "the server holds it") {
		cronjob.SuspendRun(j, h.now)
	}
}

func (h *history) draw(t *rapid.T) *batchv1.Job {
	if len(h.jobs) == 0 {
		t.Skip("no Jobs")
	}
	return rapid.SampledFrom(h.list()).Draw(t, "job")
}

func (h *history) endJob(t *rapid.T) {
	j := h.draw(t)
	if over(j) || waits(j) {
		t.Skip("it does not run")
	}
	how := rapid.SampledFrom([]batchv1.JobConditionType{batchv1.JobComplete, batchv1.JobFailed}).Draw(t, "how")
	j.Status.StartTime, j.Status.CompletionTime = ptr.To(metav1.NewTime(h.now)), ptr.To(metav1.NewTime(h.now))
	j.Status.Conditions = []batchv1.JobCondition{{Type: how, Status: corev1.ConditionTrue}}
}

// deleteJob deletes a Job, but none whose due time is not in the status yet: then nothing would be left to show that its
// run has started.
func (h *history) deleteJob(t *rapid.T) {
	j := h.draw(t)
	due := dueOf(j)
	if last := h.cj.Status.LastScheduleTime; !due.IsZero() && (last == nil || last.Time.Before(due)) {
		t.Skip("not noted")
	}
	delete(h.jobs, j.Name)
}

type fault int

const (
	none fault = iota
	// lostStatus is a status write that fails.
	lostStatus
	// crash ends the sync after its first write.
	crash
)

// sync applies decisions as the controller does.
func (h *history) sync(t *rapid.T, f fault) {
	for range 10 {
		d := cronjob.Decide(cronjob.Observation{CronJob: h.cj.DeepCopy(), Jobs: h.list(), Now: h.now, ScheduleSince: h.since})
		if d.ReplansAfter() {
			h.applyPolicy(t, d)
			if f == crash {
				return
			}
			continue
		}
		var started *batchv1.Job
		if d.Start != nil {
			started = h.start(t, d)
			if f == crash {
				return
			}
		}
		if f == lostStatus {
			return
		}
		h.cj.Status = d.Status(started)
		for _, j := range d.DeleteHistory {
			delete(h.jobs, j.Name)
		}
		if !d.RequeueAfterStatus {
			return
		}
	}
	t.Fatal("the decisions do not come to an end")
}

func (h *history) applyPolicy(t *rapid.T, d cronjob.Decision) {
	for _, j := range d.Suspend {
		if h.isListed(j) {
			t.Fatalf("%s is held though it is listed", j.Name)
		}
		cronjob.SuspendRun(h.jobs[j.Name], h.now)
	}
	for _, j := range d.Resume {
		if h.forbids() && len(h.running()) > 0 {
			t.Fatalf("%s is resumed beside %v", j.Name, names(h.running()))
		}
		cronjob.ResumeRun(h.jobs[j.Name])
	}
	for _, j := range d.Replace {
		if h.cj.Spec.ConcurrencyPolicy != batchv1.ReplaceConcurrent || over(j) {
			t.Fatalf("%s is replaced", j.Name)
		}
		delete(h.jobs, j.Name)
	}
}

func (h *history) start(t *rapid.T, d cronjob.Decision) *batchv1.Job {
	if found := h.jobs[d.Start.Name]; found != nil {
		return found
	}
	if h.started[d.Start.Name] {
		t.Fatalf("%v starts again", d.Due)
	}
	h.started[d.Start.Name] = true
	deadline := h.cj.Spec.StartingDeadlineSeconds
	switch {
	case *h.cj.Spec.Suspend:
		t.Fatal("it starts though it is suspended")
	case d.Due.After(h.now) || !d.Due.After(h.cj.CreationTimestamp.Time) || !d.Due.Equal(d.Due.Truncate(h.period)):
		t.Fatalf("at %v, %v was never due", h.now, d.Due)
	case deadline != nil && h.now.Sub(d.Due) >= time.Duration(*deadline)*time.Second:
		t.Fatalf("at %v it is too late for %v", h.now, d.Due)
	case h.cj.Spec.ConcurrencyPolicy != batchv1.AllowConcurrent && len(h.running()) > 0:
		t.Fatalf("it starts beside %v", names(h.running()))
	}
	return h.create(d.Start)
}

// checkEnd checks the state after syncs without faults.
func (h *history) checkEnd(t *rapid.T) {
	var running []string
	for _, j := range h.running() {
		running = append(running, j.Name)
	}
	listed := active(h.cj.Status)
	slices.Sort(listed)
	slices.Sort(running)
	if !slices.Equal(listed, running) {
		t.Fatalf("status.active is %v, active are %v", listed, running)
	}
	kept := 0
	for _, j := range h.list() {
		if over(j) && j.Status.Conditions[0].Type == batchv1.JobComplete {
			kept++
		}
		if waits(j) && (!h.forbids() || len(running) == 0) {
			t.Fatalf("%s waits for nothing", j.Name)
		}
	}
	if kept > int(*h.cj.Spec.SuccessfulJobsHistoryLimit) {
		t.Fatalf("%d Jobs are kept", kept)
	}
	h.checkNothingLost(t)
}

// checkNothingLost checks the latest due time only: earlier ones may be skipped for it.
func (h *history) checkNothingLost(t *rapid.T) {
	due, s := h.now.Truncate(h.period), &h.cj.Spec
	tooLate := s.StartingDeadlineSeconds != nil && h.now.Sub(due) >= time.Duration(*s.StartingDeadlineSeconds)*time.Second
	dealtWith := h.cj.Status.LastScheduleTime != nil && !h.cj.Status.LastScheduleTime.Time.Before(due)
	blocked := h.forbids() && len(h.running()) > 0
	if due.After(h.cj.CreationTimestamp.Time) && due.After(h.since) && !*s.Suspend && !tooLate && !blocked && !dealtWith {
		t.Fatalf("at %v, %v was not started; lastScheduleTime %v", h.now, due, h.cj.Status.LastScheduleTime)
	}
}

func (h *history) forbids() bool { return h.cj.Spec.ConcurrencyPolicy == batchv1.ForbidConcurrent }

func (h *history) isListed(j *batchv1.Job) bool {
	return slices.ContainsFunc(h.cj.Status.Active, func(r corev1.ObjectReference) bool { return r.UID == j.UID })
}

func (h *history) list() (all []*batchv1.Job) {
	for _, name := range slices.Sorted(maps.Keys(h.jobs)) {
		all = append(all, h.jobs[name])
	}
	return all
}

func (h *history) running() []*batchv1.Job {
	return slices.DeleteFunc(h.list(), func(j *batchv1.Job) bool { return over(j) || waits(j) })
}

func over(j *batchv1.Job) bool { return len(j.Status.Conditions) > 0 }

func waits(j *batchv1.Job) bool {
	_, marked := j.Annotations[jobcore.HeldAnnotation]
	return marked && ptr.Deref(j.Spec.Suspend, false)
}

// dueOf is the due time of a scheduled run; zero for others.
func dueOf(j *batchv1.Job) time.Time {
	due, _ := time.Parse(time.RFC3339, j.Annotations[batchv1.CronJobScheduledTimestampAnnotation])
	return due
}
