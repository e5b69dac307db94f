// Package namespace empties namespaces that are being deleted.
//
// Deleting a namespace only marks it: it is Terminating while spec.finalizers names "kubernetes". The Purger deletes
// what is in it, pods first (with their grace, so that no process loses its configuration under its feet), tells in
// the namespace's conditions what is still there, and takes its finalizer away when nothing is left.
//
//	Terminating ──► pods are deleted ──► all else is deleted ──► nothing left, read past the cache ──► finalizer gone
//	                     │ ▲                    │ ▲
//	                     └─┘ looked at again    └─┘
//
// What to delete and what to report are decided by values; purger.go is the shell.
package namespace
