package explain

import (
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/job"
)

// concurrencyWait is the suspension of a run until other runs have ended.
type concurrencyWait struct {
	job     *batchv1.Job
	holders []string
}

func (c concurrencyWait) applies() bool { return job.IsHeld(c.job) }

func (c concurrencyWait) since() *metav1.Time {
	since, err := time.Parse(time.RFC3339Nano, c.job.Annotations[job.HeldAnnotation])
	if err != nil {
		return createdAt(c.job)
	}
	return timeOrNil(since.Truncate(time.Second))
}

func (c concurrencyWait) summary() string {
	if owner := metav1.GetControllerOf(c.job); owner != nil {
		return "waits for other runs of " + strings.ToLower(owner.Kind) + " " + owner.Name + ", whose concurrency policy holds it"
	}
	return "is held by a concurrency policy"
}

func (c concurrencyWait) waits() []stintv1.JobWait {
	text := "earlier runs to finish"
	if len(c.holders) > 0 {
		text += ": " + some(c.holders)
	}
	return []stintv1.JobWait{{For: stintv1.WaitForConcurrency, Since: c.since(), Message: text}}
}

// suspension is the suspension of a Job by a user.
type suspension struct {
	job *batchv1.Job
	// terminating is the number of pods that have not terminated yet.
	terminating int
}

func (s suspension) applies() bool { return ptr.Deref(s.job.Spec.Suspend, false) }

func (s suspension) since() *metav1.Time {
	if c := condition(s.job, batchv1.JobSuspended); c != nil {
		return timeOrNil(c.LastTransitionTime.Time)
	}
	_, since := lastWriter(s.job, "f:spec", "f:suspend")
	return since
}

func (s suspension) summary() string {
	text := "is suspended"
	if by, _ := lastWriter(s.job, "f:spec", "f:suspend"); by != "" {
		text += " (by " + by + ")"
	}
	if n := s.terminating; n > 0 {
		text += ": " + counted(n, "pod") + " " + verb(n, "ends", "end")
	}
	return text
}

func (s suspension) waits() []stintv1.JobWait {
	return []stintv1.JobWait{{For: stintv1.WaitForResume, Since: s.since(), Message: "spec.suspend is true"}}
}
