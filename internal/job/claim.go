package job

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/stint-dev/stint/internal/podstatus"
)

// Adopt puts p under the control of job. It will be counted, unless it has been: a pod that was made for the Job, that
// ended and has no finalizer was counted before it lost its owner.
func Adopt(job *batchv1.Job, p *corev1.Pod) {
	p.OwnerReferences = append(p.OwnerReferences, ControllerRef(job))
	if !podstatus.IsTerminated(p) || p.Labels[batchv1.ControllerUidLabel] != string(job.UID) {
		AddFinalizer(p)
	}
}

// claim sorts the pods into those of the Job, those to let go and those to adopt.
//
//	controlled by      selector   then
//	this Job           matches    owned
//	this Job           differs    let go; owned if the Job is being deleted, for it has to release the pod
//	nobody             matches    adopt, unless the Job or the pod is being deleted
//	anything else                 none of ours
func (v *view) claim() {
	selector, err := metav1.LabelSelectorAsSelector(v.job.Spec.Selector)
	if err != nil {
		// The API server refuses such a selector. Without one nothing may be let go or adopted.
		selector = labels.Nothing()
	}
	leaving := v.job.DeletionTimestamp != nil
	for _, p := range v.Pods {
		ref := metav1.GetControllerOfNoCopy(p)
		matches := selector.Matches(labels.Set(p.Labels))
		switch {
		case ref != nil && ref.UID != v.job.UID:
		case ref != nil && (matches || err != nil || leaving):
			v.owned = append(v.owned, p)
		case ref != nil:
			v.release = append(v.release, p)
		case ref == nil && matches && !leaving && p.DeletionTimestamp == nil:
			v.adopt = append(v.adopt, p)
		}
	}
	slices.SortFunc(v.adopt, byIndexThenUID)
	slices.SortFunc(v.release, byIndexThenUID)
}
