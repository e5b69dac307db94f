package cronjob

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Decide returns what is to be done about a CronJob. It changes nothing of what is observed.
func Decide(obs Observation) Decision {
	v := newView(obs)
	d := Decision{}
	v.updateStatus(&d)
	if d.RequeueAfterStatus {
		return d
	}
	if v.cronJob.DeletionTimestamp != nil {
		if slices.Contains(v.cronJob.Finalizers, metav1.FinalizerOrphanDependents) {
			d.Resume = v.held // No controller will resume them once they are orphaned.
		}
		return d
	}
	v.applyConcurrencyPolicy(&d)
	d.DeleteHistory = v.historyToDelete()
	v.startDue(&d)
	return d
}
