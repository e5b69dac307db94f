package scheduledjob

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// Observation is all that a decision depends on.
type Observation struct {
	// ScheduledJob is its newest version.
	ScheduledJob *stintv1.ScheduledJob
	// Jobs are all that it controls. A running execution whose Job is not among them has lost it.
	Jobs []*batchv1.Job
	// Template is the pods of a run that starts now: the spec's, or that of the PodTemplate that it refers to. Nil
	// where there is no such PodTemplate.
	Template *corev1.PodTemplateSpec
	// ExitCodes are those of the Jobs that have ended, by the Job's UID.
	ExitCodes map[types.UID][]stintv1.ExitCode
	Now       time.Time
}
