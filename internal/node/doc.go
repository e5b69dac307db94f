// Package node runs the pods of the API server on this machine.
//
// There is no scheduler: the node takes every pod that is bound to it or to no node, gives it its share of CPU and
// memory (package resources), lets its life be decided (package lifecycle) and carries the decisions out through a
// runtime (package runtime).
//
//	informer ─── pods ──┐                         ┌── start, stop ──▶ runtime
//	runtime ── exits ───┼──▶ queue ──▶ sync(pod) ─┼── status ───────▶ API server
//	alarm ── timers ────┘    of UIDs   decide     └── wake me at ───▶ alarm
//
// A pod has one entry in memory and no goroutine of its own. One worker at a time looks at it.
//
// Node puts the parts together and takes in what comes from outside. Each part owns one thing:
//
//	podWorkers              what is done with a pod, from its admission to its end
//	placer                  the queue for the machine's resources, and the node's taints
//	statusManager           what is written into the statuses of pods
//	podDirs                 the folders of pods
//	podlogs.Store, Keeper   their logs, and which of them outlive their pods
//	containers.Maker        what a container is made of
//	disk, imageGC           the room on the file systems, and the images that take it
//	localStorageEviction    which pods take more of it than they may
//	registration            the node's object and its Lease
//	pullProgress            what the node's object says about pulls
//
// Few writes. A pod that ends within a moment (reportAfter) gets one write: node name, start time and final status
// together. Only a pod that lives longer is reported Running, and only then is there an event that tells so.
//
// Never two copies. Before any pod is looked at, the runtime tells which attempts it knows. An attempt is started
// under a number that is used once, and the runtime runs a number once. A pod's entry stays until the informer has
// shown that its end is stored, so a late event cannot make the pod look new. Results stay with the runtime until
// they are stored.
package node
