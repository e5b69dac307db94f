// Package podgc deletes pods that nothing else deletes. It has three reasons, which are those of Kubernetes' pod garbage
// collector:
//
//	terminated   there are more terminated pods than the threshold: the oldest go
//	orphaned     the node of the pod does not exist any more
//	unscheduled  the pod is deleted, never had a node, and so nothing ends it
//
// A terminated pod counts once the Job controller has counted it, which is when it has lost the tracking finalizer. A pod
// without a Job counts at once.
//
//	informers ──► byAge: more than the threshold? ──► the oldest ─┐
//	    │                                                         ├──► queue ──► delete
//	    └───────► lost? ──► after the quarantine, asked again ────┘
//
// No event costs more than the logarithm of the threshold: no list of pods is made unless a Node appears or goes.
//
// Pods of nodes with the taint node.kubernetes.io/out-of-service are not collected: the one node of a server ends its pods
// itself, whatever its taints.
package podgc
