package model_test

import (
	batchv1 "k8s.io/api/batch/v1"
)

// checkEnd compares what the Jobs say with what became of their pods.
func (l *ledger) checkEnd() {
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
