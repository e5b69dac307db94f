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

// concurrencyWait is the suspension of a run that waits for others.
type concurrencyWait struct {
	job     *batchv1.Job
	holders []string
}

func (h concurrencyWait) applies() bool { return job.IsHeld(h.job) }

func (h concurrencyWait) since() *metav1.Time {
	since, err := time.Parse(time.RFC3339Nano, h.job.Annotations[job.HeldAnnotation])
	if err != nil {
		return createdAt(h.job)
	}
	return timeOrNil(since.Truncate(time.Second))
}

func (h concurrencyWait) summary() string {
	if owner := metav1.GetControllerOf(h.job); owner != nil {
		return "waits for other runs of " + strings.ToLower(owner.Kind) + " " + owner.Name + ", whose concurrency policy holds it"
	}
	return "is held by a concurrency policy"
}

func (h concurrencyWait) waits() []stintv1.JobWait {
	text := "earlier runs to finish"
	if len(h.holders) > 0 {
		text += ": " + some(h.holders)
	}
	return []stintv1.JobWait{{For: stintv1.WaitForConcurrency, Since: h.since(), Message: text}}
}

// suspension is that of any Job.
type suspension struct {
	job *batchv1.Job
	// leaving pods have not ended yet.
	leaving int
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
	if n := s.leaving; n > 0 {
		text += ": " + counted(n, "pod") + " " + verb(n, "ends", "end")
	}
	return text
}

func (s suspension) waits() []stintv1.JobWait {
	return []stintv1.JobWait{{For: stintv1.WaitForResume, Since: s.since(), Message: "spec.suspend is true"}}
}
