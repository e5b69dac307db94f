package model_test

import (
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/test/simulated"
)

// checkEnd compares the status, the failed pods and the results of finished Jobs with the ledger.
func (l *ledger) checkEnd() {
	for _, p := range l.started {
		l.checkReported(p)
	}
	for _, j := range l.world.jobs.All() {
		if managed(j) && finished(j) {
			l.checkCounts(j)
			l.checkFailedPods(j)
			l.checkResults(j)
		}
	}
}

func (l *ledger) checkCounts(j *batchv1.Job) {
	a := l.accounts[j.UID]
	if n := len(a.failed); int(j.Status.Failed) != n {
		l.Fail("%d pods failed and the status says %d", n, j.Status.Failed)
	}
	if n := len(a.succeeded); !indexed(j) && int(j.Status.Succeeded) != n {
		l.Fail("%d pods succeeded and the status says %d", n, j.Status.Succeeded)
	}
	if n := len(a.failed) + len(a.succeeded); n != len(a.counted) {
		l.Fail("%d pods were listed and %d counted", n, len(a.counted))
	}
}

// deeds counts what a process did and got an answer for.
type deeds struct {
	// created counts pods, ended, suspended and resumed count Jobs.
	created, ended, suspended, resumed int
	// pods counts pods that were counted, indexes those that completed or failed.
	pods, indexes int
}

// stored counts what is new in a status that the process stored.
func (d *deeds) stored(was, is *batchv1.Job) {
	if finished(is) {
		d.ended++
	}
	switch stopped := holds(is, batchv1.JobSuspended); {
	case stopped && !holds(was, batchv1.JobSuspended):
		d.suspended++
	case !stopped && holds(was, batchv1.JobSuspended):
		d.resumed++
	}
	d.pods += int(is.Status.Failed - was.Status.Failed)
	if !indexed(is) {
		d.pods += int(is.Status.Succeeded - was.Status.Succeeded)
		return
	}
	completed := newIndexes(was.Status.CompletedIndexes, is.Status.CompletedIndexes)
	d.pods += completed
	d.indexes += completed + newIndexes(ptr.Deref(was.Status.FailedIndexes, ""), ptr.Deref(is.Status.FailedIndexes, ""))
}

func newIndexes(was, is string) (n int) {
	before := indexSet(was)
	for i := range indexSet(is) {
		if !before[i] {
			n++
		}
	}
	return n
}

// checkReported compares the events and metrics of a process with its deeds: each is reported once.
func (l *ledger) checkReported(p *process) {
	events, metrics := map[string]int{}, p.counters()
	ends := 0
	for _, e := range p.Events() {
		events[e.Reason]++
		if isEndEvent(e) {
			ends++
		}
	}
	for _, c := range []struct {
		what           string
		reported, done int
	}{
		{"events of ends", ends, p.deeds.ended},
		{"finished Jobs in metrics", metrics["job_controller_jobs_finished_total"], p.deeds.ended},
		{"finished pods in metrics", metrics["job_controller_job_pods_finished_total"], p.deeds.pods},
		{"finished indexes in metrics", metrics["job_controller_job_finished_indexes_total"], p.deeds.indexes},
		{"events SuccessfulCreate", events["SuccessfulCreate"], p.deeds.created},
		{"events Suspended", events["Suspended"], p.deeds.suspended},
		{"events Resumed", events["Resumed"], p.deeds.resumed},
	} {
		if c.reported != c.done {
			l.Fail("controller %d: %d %s for %d", p.Number, c.reported, c.what, c.done)
		}
	}
}

// isEndEvent reports whether e is about the end of a Job. A pod may fail for the same reason as its Job.
func isEndEvent(e simulated.Event) bool {
	ofPod := e.Reason == pendingTimeout && strings.HasPrefix(e.Message, "Pod ")
	return e.Reason == "Completed" || slices.Contains(reasonsToFail, e.Reason) && !ofPod
}

// counters returns the sum over the series of each counter.
func (p *process) counters() map[string]int {
	sums := map[string]int{}
	families, _ := p.metrics.Gather()
	for _, f := range families {
		for _, m := range f.GetMetric() {
			sums[f.GetName()] += int(m.GetCounter().GetValue())
		}
	}
	return sums
}
