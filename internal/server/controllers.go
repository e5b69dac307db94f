package server

import (
	"cmp"
	"slices"

	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/cronjob"
	"github.com/stint-dev/stint/internal/controller/ephemeralvolume"
	"github.com/stint-dev/stint/internal/controller/gc"
	"github.com/stint-dev/stint/internal/controller/job"
	"github.com/stint-dev/stint/internal/controller/namespace"
	"github.com/stint-dev/stint/internal/controller/persistentvolume"
	"github.com/stint-dev/stint/internal/controller/podgc"
	"github.com/stint-dev/stint/internal/controller/scheduledjob"
	"github.com/stint-dev/stint/internal/controller/ttl"
	"github.com/stint-dev/stint/internal/controller/volumeprotection"
	"github.com/stint-dev/stint/internal/events"
)

const (
	jobController          = "job"
	cronJobController      = "cronjob"
	scheduledJobController = "scheduledjob"
	garbageCollector       = "garbage-collector"
	namespaceController    = "namespace"
	ttlController          = "ttl-after-finished"
	podGarbageCollector    = "pod-garbage-collector"
	volumeBinder           = "persistentvolume-binder"
	claimProtection        = "persistentvolumeclaim-protection"
	volumeProtection       = "persistentvolume-protection"
	ephemeralVolumes       = "ephemeral-volume"
)

// Controllers are the valid names in Options.Controllers.
var Controllers = []string{jobController, cronJobController, scheduledJobController, garbageCollector, namespaceController, ttlController,
	podGarbageCollector, volumeBinder, claimProtection, volumeProtection, ephemeralVolumes}

// ConcurrentJobSyncs is more than upstream's 5: on one machine a sync waits for the disk, not for a network.
const ConcurrentJobSyncs = 16

// ConcurrentCronJobSyncs and ConcurrentScheduledJobSyncs are higher, as thousands may be due at the same time, and concurrent
// writes share one flush to the disk.
const (
	ConcurrentCronJobSyncs      = 64
	ConcurrentScheduledJobSyncs = 64
)

// controllers creates the chosen controllers. Without a node there are no local volumes.
func controllers(c client.Interface, w *events.Writer, volumes persistentvolume.Provisioner, o Options) []service {
	o.Job.ConcurrentSyncs = cmp.Or(o.Job.ConcurrentSyncs, ConcurrentJobSyncs)
	o.Job.QueuedPodsAreNotPending = true
	o.ScheduledJob.ConcurrentSyncs = cmp.Or(o.ScheduledJob.ConcurrentSyncs, ConcurrentScheduledJobSyncs)
	o.CronJob.ConcurrentSyncs = cmp.Or(o.CronJob.ConcurrentSyncs, ConcurrentCronJobSyncs)
	if o.runs(podGarbageCollector) {
		o.Job.TerminatedPodsLimit = max(0, o.terminatedPods())
	}
	made := map[string]func() service{
		jobController: func() service { return job.New(c, w.Recorder("job-controller"), o.Job) },
		cronJobController: func() service {
			return cronjob.New(c, w.Recorder("cronjob-controller"), o.CronJob)
		},
		scheduledJobController: func() service {
			return scheduledjob.New(c, w.Recorder("scheduledjob-controller"), o.ScheduledJob)
		},
		garbageCollector:    func() service { return gc.New(c, w.Recorder("garbage-collector-controller")) },
		namespaceController: func() service { return namespace.New(c) },
		ttlController: func() service {
			return ttl.New(c, ttl.Options{Registerer: o.Job.Registerer})
		},
		podGarbageCollector: func() service {
			return podgc.New(c, podgc.Options{Threshold: o.terminatedPods(), Registerer: o.Job.Registerer})
		},
		volumeBinder: func() service {
			return persistentvolume.New(c, w.Recorder("persistentvolume-controller"),
				persistentvolume.Options{LocalClasses: o.LocalStorageClasses, Provisioner: volumes})
		},
		claimProtection:  func() service { return volumeprotection.NewClaims(c) },
		volumeProtection: func() service { return volumeprotection.NewVolumes(c) },
		ephemeralVolumes: func() service { return ephemeralvolume.New(c, w.Recorder("ephemeral_volume")) },
	}
	var services []service
	for _, name := range Controllers {
		if o.runs(name) {
			services = append(services, made[name]())
		}
	}
	return services
}

// runs reports whether a controller is chosen.
func (o Options) runs(controller string) bool {
	return o.Controllers == nil || slices.Contains(o.Controllers, controller)
}

// terminatedPods returns how many terminated pods are kept, 0 or less for all.
func (o Options) terminatedPods() int {
	return ptr.Deref(o.TerminatedPodGCThreshold, podgc.DefaultThreshold)
}

// jobOptions returns the settings of the Job controller that explanations of Jobs need.
func (o Options) jobOptions() apiserver.JobOptions {
	o.Job.QueuedPodsAreNotPending = true
	settings := o.Job.Settings()
	return apiserver.JobOptions{Settings: &settings, NoController: o.ReadOnly || !o.runs(jobController)}
}
