package explain

import (
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/job"
)

// dependencies are the Jobs that must end before this one starts.
type dependencies struct {
	job     *batchv1.Job
	awaited []job.UnmetDependency
}

func (d dependencies) applies() bool       { return len(d.awaited) > 0 }
func (d dependencies) since() *metav1.Time { return createdAt(d.job) }

func (d dependencies) summary() string {
	entries := make([]string, 0, len(d.awaited))
	for _, other := range d.awaited {
		entries = append(entries, other.String())
	}
	return "waits for other Jobs: " + some(entries)
}

func (d dependencies) waits() []stintv1.JobWait {
	var list []stintv1.JobWait
	for _, other := range d.awaited {
		list = append(list, stintv1.JobWait{For: stintv1.WaitForJob, What: other.String(), Since: timeOrNil(other.Since),
			Message: strings.TrimPrefix(other.Message, "Job "+other.Job+" ")})
	}
	return list
}
