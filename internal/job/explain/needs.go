package explain

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/internal/podneeds"
)

// needs are the objects that the pods of the Job cannot start without.
type needs struct {
	// missing do not exist, and claims are not bound.
	missing []podneeds.Need
	claims  []*corev1.PersistentVolumeClaim
	events  events
}

// newNeeds leaves out what no pod waits for: an account is needed to create pods, and all else to start them.
func newNeeds(a *job.Assessment, about Circumstances, refused bool) needs {
	n := needs{events: about.Events}
	pending := slices.ContainsFunc(a.Active, func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodPending })
	for _, need := range about.Missing {
		if need.Kind == podneeds.ServiceAccount && refused || need.Kind != podneeds.ServiceAccount && pending {
			n.missing = append(n.missing, need)
		}
	}
	if pending {
		n.claims = about.UnboundClaims
	}
	return n
}

// lack reports whether an object does not exist that pods need to start.
func (n needs) lack() bool {
	return slices.ContainsFunc(n.missing, func(need podneeds.Need) bool { return need.Kind != podneeds.ServiceAccount })
}

func (n needs) waits() []stintv1.JobWait {
	var list []stintv1.JobWait
	for _, need := range n.missing {
		list = append(list, stintv1.JobWait{For: stintv1.WaitForObject, What: string(need.Kind) + "/" + need.Name, Keys: need.Keys,
			Message: "it does not exist"})
	}
	for _, claim := range n.claims {
		list = append(list, stintv1.JobWait{For: stintv1.WaitForClaim, What: claim.Name, Message: n.of(claim),
			Since: timeOrNil(claim.CreationTimestamp.Time)})
	}
	return list
}

// of says why a claim is not bound.
func (n needs) of(claim *corev1.PersistentVolumeClaim) string {
	switch {
	case claim.DeletionTimestamp != nil:
		return "it is being deleted"
	case claim.Status.Phase == corev1.ClaimLost:
		return fmt.Sprintf("its PersistentVolume %s is gone", claim.Spec.VolumeName)
	}
	if event := n.events.newest(claim.UID); event != nil {
		return event.Reason + ": " + event.Message
	}
	return "it is not bound to a PersistentVolume"
}
