// Package registry lists the kinds that the API server serves, each as one value of type kinds.Resource. The server
// (internal/apiserver) turns these values into storage, strategies and routes.
//
// Kinds with many rules have their own packages; the others are files of this package. Imports go in one direction:
//
//	kinds, check  ◄─  pod  ◄─  job  ◄─  cronjob  ◄─  scheduledjob  ◄─  registry
//	                   └──────────  persistentvolume  ◄───────────────┘
package registry

import (
	"github.com/stint-dev/stint/internal/apiserver/registry/cronjob"
	"github.com/stint-dev/stint/internal/apiserver/registry/job"
	"github.com/stint-dev/stint/internal/apiserver/registry/kinds"
	"github.com/stint-dev/stint/internal/apiserver/registry/persistentvolume"
	"github.com/stint-dev/stint/internal/apiserver/registry/pod"
	"github.com/stint-dev/stint/internal/apiserver/registry/scheduledjob"
)

// All returns all kinds that the server serves.
func All(o pod.Options) []kinds.Resource {
	return []kinds.Resource{
		Namespace(),
		Node(),
		pod.Resource(o),
		PodTemplate(o),
		job.Resource(o),
		cronjob.Resource(o),
		scheduledjob.Resource(o),
		ResultSlice(),
		ConfigMap(),
		Secret(),
		ServiceAccount(),
		Event(),
		Lease(),
		RuntimeClass(o),
		persistentvolume.Volume(o),
		persistentvolume.Claim(o),
		persistentvolume.Class(o),
	}
}
