package job

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// claim sorts the pods into those of the Job, those to let go and those to adopt.
//
//	controlled by      selector   then
//	this Job           matches    owned
//	this Job           differs    let go, unless the Job is being deleted
//	nobody             matches    adopt, unless the Job or the pod is being deleted
//	anything else                 none of ours
//
// Pods to adopt are owned already for the rest of the decision, lest others are created in their place.
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
		case ref != nil && (matches || err != nil):
			v.owned = append(v.owned, p)
		case ref != nil && !leaving:
			v.letGo = append(v.letGo, p)
		case ref == nil && matches && !leaving && p.DeletionTimestamp == nil:
			v.adopt = append(v.adopt, p)
			v.owned = append(v.owned, p)
		}
	}
	slices.SortFunc(v.adopt, byIndexThenUID)
	slices.SortFunc(v.letGo, byIndexThenUID)
}
