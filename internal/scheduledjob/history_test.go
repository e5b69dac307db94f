package scheduledjob

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	jobcore "github.com/stint-dev/stint/internal/job"
)

func TestMain(m *testing.M) {
	// Flags of the command line are parsed later and win: -rapid.checks=100000 runs many more.
	_ = flag.Set("rapid.checks", "1000")
	os.Exit(m.Run())
}

// TestAnyHistory takes random ScheduledJobs through random histories. The ledger checks every write. At the end, without
// faults and with all Jobs ending, a sync must have nothing left to do, and each run must have run once.
func TestAnyHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t, drawScheduledJob(t))
		t.Repeat(w.actions())
		w.finishAll()
	})
}

func drawScheduledJob(t *rapid.T) *stintv1.ScheduledJob {
	sj := aScheduledJob(func(sj *stintv1.ScheduledJob) {
		sj.CreationTimestamp = metav1.NewTime(rapid.SampledFrom([]time.Time{noon, beforeSpring, beforeAutumn}).Draw(t, "created"))
	})
	drawSchedule(t, &sj.Spec)
	sj.Spec.AllowConcurrentRun = ptr.To(rapid.Bool().Draw(t, "allowConcurrentRun"))
	drawLimits(t, &sj.Spec)
	return sj
}

// One minute before the clocks of Berlin change.
var (
	beforeSpring = time.Date(2026, time.March, 29, 0, 59, 0, 0, time.UTC)
	beforeAutumn = time.Date(2026, time.October, 25, 0, 59, 0, 0, time.UTC)
)

func drawSchedule(t *rapid.T, spec *stintv1.ScheduledJobSpec) {
	timeSpec := rapid.SampledFrom([]string{"", "R//PT1S", "R//PT7S", "R3//PT5S", "R/T11:59:30/PT13S", "* * * * *", "R//P1D", "R/T02:59:30/P1D", "R/T03:00:10/PT13S",
		"0,30 2,3 * * *", "sometimes"}).Draw(t, "timeSpec")
	spec.Schedule = nil
	if timeSpec == "" {
		return
	}
	spec.Schedule = &stintv1.Schedule{
		TimeSpec:       timeSpec,
		TimeZone:       rapid.SampledFrom([]*string{nil, ptr.To("Europe/Berlin"), ptr.To("America/New_York"), ptr.To("Nowhere/Here")}).Draw(t, "timeZone"),
		SkipOutdated:   ptr.To(rapid.Bool().Draw(t, "skipOutdated")),
		BlockOnFailure: ptr.To(rapid.Bool().Draw(t, "blockOnFailure")),
	}
}

func drawLimits(t *rapid.T, spec *stintv1.ScheduledJobSpec) {
	spec.SuccessfulJobsHistoryLimit = ptr.To(rapid.Int32Range(0, 3).Draw(t, "successfulJobsHistoryLimit"))
	spec.FailedJobsHistoryLimit = ptr.To(rapid.Int32Range(0, 2).Draw(t, "failedJobsHistoryLimit"))
	spec.CompletedExecutionsHistoryLimit = ptr.To(rapid.Int32Range(0, 5).Draw(t, "completedExecutionsHistoryLimit"))
}

func (w *world) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"sync":             func(*rapid.T) { w.sync() },
		"sync again":       func(*rapid.T) { w.sync() },
		"sync when due":    func(t *rapid.T) { w.pass(t); w.sync() },
		"sync, all known":  func(*rapid.T) { w.showAll(); w.sync() },
		"rest":             func(*rapid.T) { w.rest() },
		"time":             w.pass,
		"clock":            w.setClock,
		"show":             func(t *rapid.T) { w.show(w.drawTag(t)) },
		"show all":         func(*rapid.T) { w.showAll() },
		"restart":          func(*rapid.T) { w.restart() },
		"a Job ends":       w.endOne,
		"a Job ends soon":  w.endOne,
		"a Job is deleted": w.deleteJob,
		"people":           func(*rapid.T) { w.userActs() },
		"people again":     func(*rapid.T) { w.userActs() },
		"the template":     func(t *rapid.T) { w.template = rapid.IntRange(0, 3).Draw(t, "is there") > 0 },
		"it is deleted": func(t *rapid.T) {
			if rapid.IntRange(0, 19).Draw(t, "really") == 0 {
				w.update(func(sj *stintv1.ScheduledJob) { sj.DeletionTimestamp = &metav1.Time{Time: w.now} })
			}
		},
	}
}

func (w *world) pass(t *rapid.T) {
	w.now = w.now.Add(time.Duration(rapid.IntRange(1, 9).Draw(t, "seconds")) * time.Second)
}

// setClock sets the clock back or forward. Forward also stands for a controller that was not running.
func (w *world) setClock(t *rapid.T) {
	w.now = w.now.Add(time.Duration(rapid.IntRange(-150, 250).Draw(t, "seconds")) * time.Second)
}

func (w *world) drawTag(t *rapid.T) string {
	if len(w.tags()) == 0 {
		t.Skip("no Jobs")
	}
	return rapid.SampledFrom(w.tags()).Draw(t, "run")
}

func (w *world) endOne(t *rapid.T) {
	if len(w.jobs) == 0 {
		t.Skip("no Jobs")
	}
	w.finish(rapid.SampledFrom(slices.Sorted(maps.Keys(w.jobs))).Draw(t, "run"), rapid.IntRange(0, 2).Draw(t, "well") > 0)
}

// deleteJob is a user who deletes the Job of a listed run. It leaves other Jobs, as without its Job an unlisted run may
// start again.
func (w *world) deleteJob(t *rapid.T) {
	tag := w.drawTag(t)
	if has(w.sj.Status.RunningExecutions, tag) || has(w.sj.Status.CompletedExecutions, tag) {
		delete(w.jobs, tag)
	}
}

// userActs is a user who does something.
func (w *world) userActs() {
	deeds := map[string]func(){
		"ask":       func() { w.request(fmt.Sprintf("run-%d", w.version)) },
		"ask again": w.requestAgain,
		"take back": w.cancelRequest,
		"unblock":   w.unblock,
		"suspend":   func() { w.edit(func(spec *stintv1.ScheduledJobSpec) { spec.Suspend = ptr.To(true) }) },
		"resume":    func() { w.edit(func(spec *stintv1.ScheduledJobSpec) { spec.Suspend = nil }) },
		"concurrent": func() {
			w.edit(func(spec *stintv1.ScheduledJobSpec) { spec.AllowConcurrentRun = ptr.To(!concurrent(w.sj)) })
		},
		"schedule": func() { w.edit(func(spec *stintv1.ScheduledJobSpec) { drawSchedule(w.t, spec) }) },
		"limits":   func() { w.edit(func(spec *stintv1.ScheduledJobSpec) { drawLimits(w.t, spec) }) },
	}
	deeds[rapid.SampledFrom(slices.Sorted(maps.Keys(deeds))).Draw(w.t, "deed")]()
}

func (w *world) request(tag string) {
	w.ledger.requested.Insert(tag)
	w.update(requested(tag))
}

// requestAgain asks for a run that is listed, in any of the lists.
func (w *world) requestAgain() {
	var listed []string
	for _, e := range slices.Concat(w.sj.Status.RunningExecutions, w.sj.Status.CompletedExecutions, w.sj.Status.PendingExecutions) {
		if e.Trigger == stintv1.TriggerManual {
			listed = append(listed, e.Tag)
		}
	}
	if len(listed) > 0 {
		w.request(rapid.SampledFrom(listed).Draw(w.t, "tag"))
	}
}

// cancelRequest removes a pending run, which may be starting right now.
func (w *world) cancelRequest() {
	var manual []string
	for _, e := range w.sj.Status.PendingExecutions {
		if ManualTag(e.Tag) && !has(w.sj.Status.CompletedExecutions, e.Tag) {
			manual = append(manual, e.Tag)
		}
	}
	if len(manual) == 0 {
		return
	}
	tag := rapid.SampledFrom(manual).Draw(w.t, "tag")
	if job := w.jobs[tag]; job != nil && jobcore.Finished(job) {
		return
	}
	if w.jobs[tag] != nil {
		w.ledger.shielded.Insert(tag)
		// The status does not list the Job any more: the controller itself keeps track that it may exist.
		w.unclear.Insert(tag)
	}
	w.ledger.requested.Delete(tag)
	w.update(func(sj *stintv1.ScheduledJob) {
		sj.Status.PendingExecutions = without(sj.Status.PendingExecutions, tag)
	})
}

func (w *world) unblock() {
	remove := rapid.Bool().Draw(w.t, "remove the condition")
	w.update(func(sj *stintv1.ScheduledJob) {
		if c := meta.FindStatusCondition(sj.Status.Conditions, stintv1.ConditionBlocked); c != nil {
			c.Status, c.Reason = metav1.ConditionFalse, "ByHand"
		}
		if remove {
			meta.RemoveStatusCondition(&sj.Status.Conditions, stintv1.ConditionBlocked)
		}
	})
}

// rest applies one decision in full and expects that the next one has nothing to do.
func (w *world) rest() {
	defer func(faults bool) { w.faults = faults }(w.faults)
	w.faults = false
	w.showAll()
	d := w.sync()
	w.showAll()
	if !d.RequeueAt.IsZero() && !d.RequeueAt.After(w.now) {
		return
	}
	next := Decide(w.observation())
	if len(next.Create)+len(next.Delete)+len(next.Events(nil)) > 0 || !equality.Semantic.DeepEqual(next.Status(nil), w.sj.Status) {
		w.t.Fatalf("does not rest: starts %v, events %v\n%s", next.starts, next.Events(nil), diff(w.sj.Status, next.Status(nil)))
	}
}

// finishAll ends all faults, completes every Job and expects that every run has run.
func (w *world) finishAll() {
	if w.sj.DeletionTimestamp != nil {
		return
	}
	w.faults, w.template = false, true
	together := rapid.IntRange(0, 9).Draw(w.t, "together") < 9
	w.edit(func(spec *stintv1.ScheduledJobSpec) { spec.Suspend, spec.AllowConcurrentRun = nil, &together })
	w.ledger.shielded.Clear()
	for step := 0; ; step++ {
		if meta.IsStatusConditionTrue(w.sj.Status.Conditions, stintv1.ConditionBlocked) {
			w.unblock()
		}
		w.showAll()
		d := w.sync()
		w.showAll()
		again := !d.RequeueAt.IsZero() && !d.RequeueAt.After(w.now)
		if s := w.sj.Status; !again && len(s.PendingExecutions)+len(s.RunningExecutions) == 0 {
			break
		}
		if step > 100 && together || step > 5000 {
			w.t.Fatalf("does not come to rest: %+v", w.sj.Status)
		}
		for tag := range w.jobs {
			w.finish(tag, true)
		}
	}
	w.rest()
	w.checkEnd()
}

func (w *world) checkEnd() {
	s := w.sj.Status
	if int(s.ScheduleCount) != w.ledger.created.Len() {
		w.t.Fatalf("%d runs started, the status says %d", w.ledger.created.Len(), s.ScheduleCount)
	}
	if lost := w.ledger.requested.Difference(w.ledger.created).Difference(w.ledger.refused); lost.Len() > 0 {
		w.t.Fatalf("runs were asked for and lost: %v", lost.UnsortedList())
	}
	successful, failed := 0, 0
	for _, job := range w.jobs {
		if jobcore.End(job).Type == "Complete" {
			successful++
		} else {
			failed++
		}
	}
	if successful > successfulJobsLimit(w.sj) || failed > failedJobsLimit(w.sj) {
		w.t.Fatalf("%d successful and %d failed Jobs are kept", successful, failed)
	}
}
