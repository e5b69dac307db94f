package job

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
)

// foreign is the newest status of a Job that this controller did not write: the first that it sees, and one that the
// controller before it had under way. It may count pods that are still shown with their finalizer.
type foreign struct {
	// since is when the status was first looked at.
	since time.Time
	// version is that of the Job with the status.
	version metav1.ObjectMeta
	// last is the Job as it was last looked at or written.
	last *batchv1.Job
	// asked are the pods whose state after the status is known. Nobody asks for them again.
	asked sets.Set[types.UID]
}

func (f *foreign) look(job *batchv1.Job, now time.Time) {
	known := f.last != nil && (f.last.ResourceVersion == job.ResourceVersion || equality.Semantic.DeepEqual(f.last.Status, job.Status))
	f.last = job
	if !known {
		f.since, f.version = now, metav1.ObjectMeta{ResourceVersion: job.ResourceVersion}
		f.asked = sets.New[types.UID]()
	}
}
