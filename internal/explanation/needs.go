package explanation

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/component-helpers/storage/ephemeral"

	core "github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/internal/job/explain"
	"github.com/stint-dev/stint/internal/podneeds"
)

// maxClaims is how many claims that are not bound are explained.
const maxClaims = 3

// needs adds what the pods need and lack: the objects of the pod template, and the claims of ephemeral volumes, which a controller
// makes. What the user may not read is left out.
func (o *Observer) needs(ctx context.Context, job *batchv1.Job, pods []*corev1.Pod, about *explain.Circumstances) error {
	if core.Finished(job) {
		return nil
	}
	wanted := podneeds.Of(&job.Spec.Template.Spec)
	named := len(wanted)
	wanted = append(wanted, ephemeralClaims(pods)...)
	for i, need := range wanted {
		object, err := o.Get(ctx, need.Kind, job.Namespace, need.Name)
		claim, isClaim := object.(*corev1.PersistentVolumeClaim)
		switch {
		case apierrors.IsForbidden(err):
		case apierrors.IsNotFound(err):
			if i < named {
				about.Missing = append(about.Missing, need)
			}
		case err != nil:
			return err
		case isClaim && !isUsable(claim) && len(about.UnboundClaims) < maxClaims:
			about.UnboundClaims = append(about.UnboundClaims, claim)
		}
	}
	return o.eventsOfClaims(ctx, about)
}

func (o *Observer) eventsOfClaims(ctx context.Context, about *explain.Circumstances) error {
	for _, claim := range about.UnboundClaims {
		list, err := o.Events(ctx, claim.Namespace, claim.UID)
		if err != nil && !apierrors.IsForbidden(err) {
			return err
		}
		about.Events = append(about.Events, list...)
	}
	return nil
}

func isUsable(claim *corev1.PersistentVolumeClaim) bool {
	return claim.DeletionTimestamp == nil && claim.Status.Phase == corev1.ClaimBound
}

// ephemeralClaims returns the claims of the ephemeral volumes of some pods that have not started.
func ephemeralClaims(pods []*corev1.Pod) []podneeds.Need {
	var claims []podneeds.Need
	for _, p := range pods {
		if p.Status.Phase != corev1.PodPending {
			continue
		}
		for i := range p.Spec.Volumes {
			if v := &p.Spec.Volumes[i]; v.Ephemeral != nil && len(claims) < maxClaims {
				claims = append(claims, podneeds.Need{Kind: podneeds.PersistentVolumeClaim, Name: ephemeral.VolumeClaimName(p, v)})
			}
		}
	}
	return claims
}
