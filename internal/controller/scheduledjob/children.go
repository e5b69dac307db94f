package scheduledjob

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// children are the Jobs of ScheduledJobs and the pods of these Jobs, as the informers show them.
type children struct {
	mu sync.Mutex
	// jobs are by the UID of the ScheduledJob and by their own.
	jobs map[types.UID]map[types.UID]*batchv1.Job
	// byUID has the same Jobs.
	byUID map[types.UID]*batchv1.Job
	// pods are by the UID of the Job and by their own. A pod may be shown before its Job.
	pods map[types.UID]map[types.UID]*corev1.Pod
}

func newChildren() *children {
	return &children{jobs: map[types.UID]map[types.UID]*batchv1.Job{}, byUID: map[types.UID]*batchv1.Job{},
		pods: map[types.UID]map[types.UID]*corev1.Pod{}}
}

func (c *children) showJob(job *batchv1.Job) {
	ref := owner(job)
	if ref == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	put(c.jobs, ref.UID, job)
	c.byUID[job.UID] = job
}

func (c *children) dropJob(job *batchv1.Job) {
	ref := owner(job)
	if ref == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	drop(c.jobs, ref.UID, job)
	delete(c.byUID, job.UID)
}

// showPod returns the pod's Job, if that is shown too.
func (c *children) showPod(pod *corev1.Pod) *batchv1.Job {
	ref := runOf(pod)
	if ref == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	put(c.pods, ref.UID, pod)
	return c.byUID[ref.UID]
}

func (c *children) dropPod(pod *corev1.Pod) {
	if ref := runOf(pod); ref != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		drop(c.pods, ref.UID, pod)
	}
}

// runOf returns the reference of a pod to the Job of its run, if it belongs to one.
func runOf(pod *corev1.Pod) *metav1.OwnerReference {
	if _, labelled := pod.Labels[stintv1.LabelJobTag]; !labelled {
		return nil
	}
	return metav1.GetControllerOfNoCopy(pod)
}

// jobsOf returns the Jobs of a ScheduledJob by name.
func (c *children) jobsOf(scheduledJob types.UID) []*batchv1.Job {
	c.mu.Lock()
	defer c.mu.Unlock()
	return byName(c.jobs[scheduledJob])
}

// podsOf returns the pods of a Job by name.
func (c *children) podsOf(job types.UID) []*corev1.Pod {
	c.mu.Lock()
	defer c.mu.Unlock()
	return byName(c.pods[job])
}

func byName[T metav1.Object](m map[types.UID]T) []T {
	return slices.SortedFunc(maps.Values(m), func(a, b T) int { return cmp.Compare(a.GetName(), b.GetName()) })
}

func put[T metav1.Object](m map[types.UID]map[types.UID]T, owner types.UID, o T) {
	if m[owner] == nil {
		m[owner] = map[types.UID]T{}
	}
	m[owner][o.GetUID()] = o
}

func drop[T metav1.Object](m map[types.UID]map[types.UID]T, owner types.UID, o T) {
	delete(m[owner], o.GetUID())
	if len(m[owner]) == 0 {
		delete(m, owner)
	}
}
