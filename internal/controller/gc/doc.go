// Package gc is the garbage collector: it deletes objects whose owners are gone.
//
// An object names its owners in metadata.ownerReferences. The client that deletes an owner chooses by the propagation
// policy what becomes of its dependents:
//
//	Background   the owner is removed at once; then each dependent without another owner is deleted
//	Foreground   the owner keeps the finalizer foregroundDeletion until no dependent that blocks it
//	             (blockOwnerDeletion) is left
//	Orphan       the owner keeps the finalizer orphan until no dependent names it any more
//
// Decide decides, from values only, what to do with one object. The Collector is the shell around it: informers with an
// index by owner UID show which objects to queue; workers observe, decide and apply. An object whose owners all exist is
// not queued, so a running pod costs an index entry and no work.
//
//	informers ──► handlers ──► queue ──► observe ──► Decide ──► apply
//	 (index by      (which        │          │
//	  owner UID)     objects?)    │          └─ an owner that is not cached is read live
//	                              └─ one entry per object, retried with backoff
//
// An object is deleted only if a live read has shown each of its owners to be absent, and only in the version that was
// decided on.
package gc
