// Package remote reaches the objects of any Kubernetes cluster through client-go.
//
//	client.Resource ──► resource[T] ──► writes   limited to QPS and Burst ─┐
//	cache.SharedIndexInformer ────────► watches  not limited              ─┼─► API server
//	record.EventSink ─────────────────► events   limited on their own     ─┘
//
// One generic resource[T] serves every kind. A change of an object is one strategic merge patch that has only the
// difference and, as a precondition, the object's UID. It needs no read before it and keeps the writes of other clients.
//
// Custom resources do not support such patches. Their changes are JSON merge patches with a resource version as
// precondition; after a conflict the patch is made again for the newer version (merge.go). If the API server does not
// know the kind, its informer waits (served.go).
//
// A write without a response (the connection broke, the API server restarts) is repeated a few times within a second. All
// writes are idempotent, so a repeated one does no harm. If it still fails, the caller has to retry.
//
// Informers drop fields that no controller reads (trim.go). Of pods in protobuf these are not even decoded, whether an
// informer or the answer to a write brings them (wire.go).
package remote
