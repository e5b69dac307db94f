// Package node runs the pods of the API server on this machine.
//
// There is no separate scheduler: the node takes every pod that is bound to it or to no node. It reserves the resources
// that the pod requests (package resources), decides what to do with the pod (package lifecycle) and applies the
// decision through a runtime (package runtime).
//
//	informer ─── pods ──┐                         ┌── start, stop ──▶ runtime
//	runtime ── exits ───┼──▶ queue ──▶ sync(pod) ─┼── status ───────▶ API server
//	alarm ── timers ────┘    of UIDs   decide     └── requeue at ───▶ alarm
//
// A pod has one entry in memory and no goroutine of its own. Only one worker at a time syncs it. A probe or a hook has a
// goroutine while it runs; when a probe is due is part of when its pod is synced.
//
// Node connects the parts, and observes changes from the API server and the runtime. Each part has one task:
//
//	podWorkers              syncs pods, from their admission to their end
//	scheduler               the queue for the machine's resources, and the node's taints
//	statusManager           writes the statuses of pods
//	podDirs                 the folders of pods
//	podlogs.Store           their logs
//	podlogs.Retention       which logs are kept after their pods are deleted
//	prober.Prober           runs probes and hooks
//	containers.Maker        translates containers for the runtime
//	disk, imageGC           the free space of the file systems, and the images that can be removed for it
//	localStorageEviction    evicts pods that exceed their limits of disk space
//	registration            the Node and its Lease
//	pullProgress            the Node's annotation about pulls
//
// Few writes. A pod that terminates within reportAfter gets one write: node name, start time and final status together.
// Only a pod that runs longer is reported as Running, and only then is a Started event recorded.
//
// No attempt runs twice. Before any pod is synced, the runtime lists the attempts that it knows. An attempt has a
// number that is used once, and the runtime starts a number once. A pod's entry stays until the informer has shown its
// final status, so a late watch event cannot make the pod look new. The runtime keeps results until they are stored in
// the API server.
package node
