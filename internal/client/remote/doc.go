// Package remote reaches the objects of any Kubernetes cluster through client-go.
//
//	client.Resource ──► resource[T] ──► writes   limited to QPS and Burst ─┐
//	cache.SharedIndexInformer ────────► watches  not limited              ─┼─► API server
//	record.EventSink ─────────────────► events   limited on their own     ─┘
//
// One resource[T] serves every kind. A change of an object is one patch that holds the difference and, as a
// precondition, the object's UID: it needs no read before it and does not care what else was written meanwhile.
//
// A kind that comes with a CustomResourceDefinition has no such patches: there a change is a merge patch for one version,
// made anew where there is a newer one (merge). Where the API server does not know the kind, its informer waits (served).
//
// A write whose answer is lost (the connection broke, the API server restarts) is tried again, a few times within a
// second: all writes are made so that a second one does no harm. What fails for longer is the caller's to try again.
//
// Informers drop what no controller reads, see trim.
package remote
