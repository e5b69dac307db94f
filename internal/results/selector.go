package results

import (
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// SlicesOf selects the slices of job: by its UID, since a name can be too long for a label.
func SlicesOf(job *batchv1.Job) labels.Selector {
	return labels.SelectorFromSet(labels.Set{batchv1.ControllerUidLabel: string(job.UID)})
}
