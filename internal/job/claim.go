package job

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/stint-dev/stint/internal/podstatus"
)

// Adopt makes job the controller of p and adds the tracking finalizer, unless p is counted already: a terminated pod that
// was created for the Job and has no finalizer was counted before it became an orphan.
func Adopt(job *batchv1.Job, p *corev1.Pod) {
	p.OwnerReferences = append(p.OwnerReferences, ControllerRef(job))
	if !podstatus.IsTerminated(p) || p.Labels[batchv1.ControllerUidLabel] != string(job.UID) {
		AddFinalizer(p)
	}
}

// claim sorts the pods into those that the Job owns, those to release and those to adopt.
//
//	controlled by      selector   then
//	this Job           matches    owned
//	this Job           differs    release; owned if the Job is being deleted, to remove the finalizer
//	no controller      matches    adopt, unless the Job or the pod is being deleted
//	anything else                 ignored
func (v *view) claim() {
	selector, err := metav1.LabelSelectorAsSelector(v.job.Spec.Selector)
	if err != nil {
		// The API server refuses such a selector. Without a valid one no pod may be released or adopted.
		selector = labels.Nothing()
	}
	deleting := v.job.DeletionTimestamp != nil
	for _, p := range v.Pods {
		ref := metav1.GetControllerOfNoCopy(p)
		matches := selector.Matches(labels.Set(p.Labels))
		switch {
		case ref != nil && ref.UID != v.job.UID:
		case ref != nil && (matches || err != nil || deleting):
			v.owned = append(v.owned, p)
		case ref != nil:
			v.release = append(v.release, p)
		case ref == nil && matches && !deleting && p.DeletionTimestamp == nil:
			v.adopt = append(v.adopt, p)
		}
	}
	slices.SortFunc(v.adopt, byIndexThenUID)
	slices.SortFunc(v.release, byIndexThenUID)
}
