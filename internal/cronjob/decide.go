package cronjob

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Decide says what is to be done about a CronJob.
func Decide(obs Observation) Decision {
	v := newView(obs)
	d := Decision{}
	v.updateStatus(&d)
	if d.RequeueAfterStatus {
		return d
	}
	if v.cronJob.DeletionTimestamp != nil {
		if slices.Contains(v.cronJob.Finalizers, metav1.FinalizerOrphanDependents) {
			d.Resume = v.held // Nobody will care for them any more.
		}
		return d
	}
	v.applyConcurrencyPolicy(&d)
	d.DeleteHistory = v.historyToDelete()
	v.startDue(&d)
	return d
}
