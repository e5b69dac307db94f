package scheduledjob

import (
	corev1 "k8s.io/api/core/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/apiserver/registry/cronjob"
)

// The default numbers of a ScheduledJob. The markers in api/stint/v1 must have the same.
const (
	defaultMaxRestart                 = 1
	defaultPodCount                   = 1
	defaultCompletedExecutionsHistory = 20
)

// setDefaults sets the defaults of a ScheduledJob. It sets none in the template, except protocols: the Job of each run gets
// the others when it is created.
func setDefaults(spec *stintv1.ScheduledJobSpec) {
	setUnset(&spec.Suspend, false)
	setUnset(&spec.AllowConcurrentRun, true)
	setUnset(&spec.MaxRestart, defaultMaxRestart)
	setUnset(&spec.PodCount, defaultPodCount)
	setUnset(&spec.SuccessfulJobsHistoryLimit, cronjob.DefaultSuccessfulJobsHistory)
	setUnset(&spec.FailedJobsHistoryLimit, cronjob.DefaultFailedJobsHistory)
	setUnset(&spec.CompletedExecutionsHistoryLimit, defaultCompletedExecutionsHistory)
	if spec.Schedule != nil {
		setUnset(&spec.Schedule.SkipOutdated, true)
		setUnset(&spec.Schedule.BlockOnFailure, false)
	}
	if spec.Template != nil {
		defaultProtocols(spec.Template.Spec.Containers)
		defaultProtocols(spec.Template.Spec.InitContainers)
	}
}

// defaultProtocols sets the protocol of ports, because it is a part of the key by which server-side apply merges ports.
func defaultProtocols(containers []corev1.Container) {
	for i := range containers {
		for j := range containers[i].Ports {
			if port := &containers[i].Ports[j]; port.Protocol == "" {
				port.Protocol = corev1.ProtocolTCP
			}
		}
	}
}

func setUnset[T any](p **T, value T) {
	if *p == nil {
		*p = &value
	}
}
