package model_test

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
)

// checkEnd compares what the Jobs say with what became of their pods.
func (l *ledger) checkEnd() {
	for _, p := range slices.Concat(l.gone, l.processes) {
		l.checkTold(p)
	}
	for _, j := range l.server.jobs.objects {
		if managed(j) && finished(j) {
			l.checkCounts(j)
		}
	}
}

func (l *ledger) checkCounts(j *batchv1.Job) {
	a := l.jobs[j.UID]
	if n := len(a.failed); int(j.Status.Failed) != n {
		l.fail("%d pods failed and the status says %d", n, j.Status.Failed)
	}
	if n := len(a.succeeded); !indexed(j) && int(j.Status.Succeeded) != n {
		l.fail("%d pods succeeded and the status says %d", n, j.Status.Succeeded)
	}
	if n := len(a.failed) + len(a.succeeded); n != len(a.counted) {
		l.fail("%d pods were listed and %d counted", n, len(a.counted))
	}
}

// checkTold compares events and metrics with what a process did: each thing is told once.
func (l *ledger) checkTold(p *process) {
	events, metrics := map[string]int{}, p.counters()
	for _, e := range p.events {
		events[e.reason]++
	}
	ends := events["Completed"]
	for _, why := range []string{batchv1.JobReasonBackoffLimitExceeded, batchv1.JobReasonDeadlineExceeded, batchv1.JobReasonPodFailurePolicy,
		batchv1.JobReasonMaxFailedIndexesExceeded, batchv1.JobReasonFailedIndexes} {
		ends += events[why]
	}
	if inMetrics := metrics["job_controller_jobs_finished_total"]; ends != p.ended || inMetrics != p.ended {
		l.fail("controller %d ended %d Jobs, recorded %d events, and its metrics say %d", p.number, p.ended, ends, inMetrics)
	}
	if n := events["SuccessfulCreate"]; n != p.created {
		l.fail("controller %d created %d pods and recorded %d events", p.number, p.created, n)
	}
}

// counters adds up the series of each counter.
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
