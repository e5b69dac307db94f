package results

import (
	"cmp"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	core "github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/internal/podstatus"
)

// Merge returns the result of every index of job that was started or, if it has no indexes, of every pod: from its slices
// and its existing pods. Slices and pods of other owners, such as an earlier Job of the same name, are ignored.
func Merge(job *batchv1.Job, kept []stintv1.ResultSlice, pods []*corev1.Pod) *stintv1.JobResults {
	known := podResults{at: map[types.UID]int{}}
	out := &stintv1.JobResults{Items: []stintv1.JobResult{}}
	out.SetGroupVersionKind(stintv1.SchemeGroupVersion.WithKind("JobResults"))
	out.Namespace, out.Name, out.UID = job.Namespace, job.Name, job.UID
	for i, s := range slicesOf(job, kept) {
		if i == 0 {
			out.Dropped = s.Before
		}
		for n := range s.Results {
			if r := &s.Results[n]; known.isNew(r) {
				known.put(r)
			}
		}
	}
	counted := len(known.list)
	for _, p := range pods {
		if !metav1.IsControlledBy(p, job) {
			continue
		}
		// Most results are in the slices already: only new ones are copied to the heap.
		if r := Of(p); known.isNew(&r) {
			known.put(ptr.To(r))
		}
	}
	slices.SortFunc(known.list[counted:], func(a, b *stintv1.PodResult) int {
		return cmp.Or(cmp.Compare(a.Pod, b.Pod), cmp.Compare(a.UID, b.UID))
	})
	out.Items = grouped(job, known.list)
	return out
}

// slicesOf returns the slices of job in the order in which they were written.
func slicesOf(job *batchv1.Job, all []stintv1.ResultSlice) (own []*stintv1.ResultSlice) {
	for i := range all {
		if metav1.IsControlledBy(&all[i], job) {
			own = append(own, &all[i])
		}
	}
	slices.SortFunc(own, func(a, b *stintv1.ResultSlice) int {
		return cmp.Or(cmp.Compare(a.Before, b.Before), cmp.Compare(a.Name, b.Name))
	})
	return own
}

// podResults has one result for each pod.
type podResults struct {
	// list is in the order in which the pods were counted. Those that are not counted yet come last.
	list []*stintv1.PodResult
	// at is where in the list each pod is.
	at map[types.UID]int
}

// isNew reports whether r says more about its pod than is known.
func (k *podResults) isNew(r *stintv1.PodResult) bool {
	i, known := k.at[r.UID]
	return !known || supersedes(r, k.list[i])
}

func (k *podResults) put(r *stintv1.PodResult) {
	if i, known := k.at[r.UID]; known {
		k.list[i] = r
		return
	}
	k.at[r.UID] = len(k.list)
	k.list = append(k.list, r)
}

// supersedes reports whether r replaces was, an earlier or later result of the same pod: the one that says more about its
// end wins, in any order of reading.
func supersedes(r, was *stintv1.PodResult) bool {
	order := cmp.Or(
		compareBool(podstatus.IsTerminal(r.Phase), podstatus.IsTerminal(was.Phase)),
		cmp.Compare(r.Restarts, was.Restarts),
		timeOf(r.FinishedAt).Compare(timeOf(was.FinishedAt)),
		compareBool(r.ExitCode != nil, was.ExitCode != nil),
		compareBool(r.StartedAt != nil, was.StartedAt != nil),
		cmp.Compare(len(r.Message), len(was.Message)),
		cmp.Compare(r.Phase, was.Phase),
		cmp.Compare(r.Message, was.Message),
		cmp.Compare(r.Reason, was.Reason),
	)
	return order > 0 || order == 0 && !podstatus.IsTerminal(was.Phase)
}

// grouped puts the pods of one index together.
func grouped(job *batchv1.Job, all []*stintv1.PodResult) []stintv1.JobResult {
	indexed := core.ModeOf(job) == batchv1.IndexedCompletion
	sortAll(all, indexed)
	items := make([]stintv1.JobResult, 0, len(all))
	for first := 0; first < len(all); {
		end := first + 1
		for indexed && end < len(all) && all[end].Index != nil && compareIndex(all[first], all[end]) == 0 {
			end++
		}
		items = append(items, jobResult(all[first:end]))
		first = end
	}
	return slices.Clip(items)
}

// sortAll keeps the order of pods whose times are the same, as these are whole seconds.
func sortAll(all []*stintv1.PodResult, indexed bool) {
	slices.SortStableFunc(all, func(a, b *stintv1.PodResult) int {
		if indexed {
			if c := cmp.Or(compareIndex(a, b), compareAttempt(a, b)); c != 0 {
				return c
			}
		}
		return startedOrCreated(a).Compare(startedOrCreated(b))
	})
}

// compareAttempt puts the attempt with which the index ended last: the one that succeeded, else the newest.
func compareAttempt(a, b *stintv1.PodResult) int {
	return cmp.Or(
		compareBool(a.Phase == corev1.PodSucceeded, b.Phase == corev1.PodSucceeded),
		timeOf(a.CreatedAt).Compare(timeOf(b.CreatedAt)),
	)
}

// compareIndex puts pods without an index last.
func compareIndex(a, b *stintv1.PodResult) int {
	return cmp.Or(compareBool(a.Index == nil, b.Index == nil), cmp.Compare(ptr.Deref(a.Index, 0), ptr.Deref(b.Index, 0)))
}

// jobResult joins the attempts at the same work, in their order, to one result. Only the last keeps its message.
func jobResult(attempts []*stintv1.PodResult) stintv1.JobResult {
	out := stintv1.JobResult{PodResult: *attempts[len(attempts)-1]}
	for i, r := range attempts {
		out.Attempts += AttemptsOf(r)
		if i < len(attempts)-1 {
			earlier := *r
			earlier.Message = ""
			out.Earlier = append(out.Earlier, earlier)
		}
	}
	return out
}

// startedOrCreated is when a pod started or, if it has not, when it was created.
func startedOrCreated(r *stintv1.PodResult) time.Time {
	if r.StartedAt != nil {
		return r.StartedAt.Time
	}
	return timeOf(r.CreatedAt)
}

func timeOf(t *metav1.Time) time.Time { return ptr.Deref(t, metav1.Time{}).Time }

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
