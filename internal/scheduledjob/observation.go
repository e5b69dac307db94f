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
	// ScheduledJob is the newest version that the controller has observed.
	ScheduledJob *stintv1.ScheduledJob
	// Jobs are all that it controls. If the Job of a running execution is not among them, it has been deleted.
	Jobs []*batchv1.Job
	// Template is the pod template of runs that start now: that of the spec, or of the PodTemplate that spec.templateRef
	// names. Nil if there is no such PodTemplate.
	Template *corev1.PodTemplateSpec
	// ExitCodes are those of finished Jobs, by the Job's UID.
	ExitCodes map[types.UID][]stintv1.ExitCode
	Now       time.Time
}
