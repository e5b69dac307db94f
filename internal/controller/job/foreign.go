package job

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
)

// foreign is the newest status of a Job that this controller did not write: the first that it sees, and one that the
// controller before it had under way. It may count pods that are still shown with their finalizer.
type foreign struct {
	// version is that of the Job with the status.
	version metav1.ObjectMeta
	// last is the Job as it was last looked at or written.
	last *batchv1.Job
	// listed are the pods that it lists as ended, until all of them that are still there are known.
	listed sets.Set[types.UID]
	// asked are the pods whose state after the status is known. Nobody asks for them again.
	asked sets.Set[types.UID]
	// unconfirmed tells that the server was asked for pods, and not yet since whether the Job has a newer status.
	unconfirmed bool
}

func (f *foreign) look(job *batchv1.Job) {
	known := f.last != nil && (f.last.ResourceVersion == job.ResourceVersion || equality.Semantic.DeepEqual(f.last.Status, job.Status))
	f.last = job
	if !known {
		f.version = metav1.ObjectMeta{ResourceVersion: job.ResourceVersion}
		f.listed, f.asked = sets.New(listed(job)...), sets.New[types.UID]()
	}
}

// unseen returns the listed pods that are not known. They may be gone, or still to be shown with their finalizer, and then
// they must stay listed. Which of the two is known once the pods shown are as new as the status: servers tell of that
// every minute, even where nothing happens.
func (f *foreign) unseen(job *batchv1.Job, known []*corev1.Pod) sets.Set[types.UID] {
	unseen := f.listed.Intersection(sets.New(listed(job)...))
	for _, p := range known {
		unseen.Delete(p.UID)
	}
	return unseen
}
