package cronjob

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Decide says what is to be done about a CronJob.
func Decide(obs Observation) Decision {
	v := look(obs)
	d := Decision{}
	v.settleStatus(&d)
	if d.Again {
		return d
	}
	if v.cronJob.DeletionTimestamp != nil {
		if slices.Contains(v.cronJob.Finalizers, metav1.FinalizerOrphanDependents) {
			d.Release = v.held // Nobody will care for them any more.
		}
		return d
	}
	v.obeyPolicy(&d)
	d.Prune = v.outdated()
	v.startDue(&d)
	return d
}
