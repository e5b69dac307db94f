// Package gc collects garbage: objects whose owners are gone.
//
// An object names its owners in metadata.ownerReferences. When an owner goes, what becomes of its dependents was
// chosen at its deletion:
//
//	Background   the owner goes at once; then each dependent without another owner is deleted
//	Foreground   the owner keeps the finalizer foregroundDeletion until no dependent that blocks it
//	             (blockOwnerDeletion) is left
//	Orphan       the owner keeps the finalizer orphan until no dependent names it any more
//
// What to do with one object is decided by Decide, from values only. The Collector is the shell around it: informers
// with an index by owner UID tell which objects to look at, workers observe, decide and apply. Nothing is looked at
// whose owners all live, so a running pod costs an index entry and no work.
//
//	informers ──► handlers ──► queue ──► observe ──► Decide ──► apply
//	 (index by      (whom does    │          │
//	  owner UID)     it touch?)   │          └─ an owner that the caches do not know is asked for at the API server
//	                              └─ one entry an object, retried with back-off
//
// An object is deleted only if each of its owners was seen to be absent by a read of the API server, and only if it is
// still the version that was decided on.
package gc
